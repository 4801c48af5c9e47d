#!/bin/bash
set -eu
echo '<result>done</result>'
