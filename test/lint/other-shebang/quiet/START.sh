#!/usr/bin/env bash
echo '<result>done</result>'
