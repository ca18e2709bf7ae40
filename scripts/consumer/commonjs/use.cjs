const assert = require('node:assert/strict');
const { Builder } = require('operator-builder');
const { defineResource } = require('operator-builder/crd');

assert.equal(typeof Builder, 'function');
assert.equal(typeof defineResource, 'function');
