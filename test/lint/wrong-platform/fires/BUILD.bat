echo ^<result^>done^</result^>
