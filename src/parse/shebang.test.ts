import { expect, test } from 'vitest';
import { shebangOf } from './shebang.ts';

test.each([
  ['echo', 'fine'],
  ['', 'fine'],
  ['#!', 'fine'],
  ['# !/usr/bin/python3', 'fine'],
  ['#!/bin/bash\necho', 'fine'],
  ['#!/bin/sh\r\necho', 'fine'],
  ['#! /usr/bin/env bash', 'fine'],
  ['#!/usr/bin/env -S bash', 'fine'],
  ['#!/bin/dash', 'fine'],
  ['#!/bin/bash -eu', 'options'],
  ['#!/usr/bin/env -S bash -x', 'options'],
  ['#!/usr/bin/env python3', 'other'],
  ['#!/usr/bin/python3 -u', 'other'],
  ['#!/bin/zsh', 'other'],
  ['#!/usr/bin/node', 'other'],
  ['#!/opt/crash', 'other'],
  ['#!/usr/bin/env', 'other'],
])('%j: %s', (script, kind) => {
  expect(shebangOf(script).kind).toBe(kind);
});
