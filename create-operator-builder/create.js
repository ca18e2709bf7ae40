#!/usr/bin/env node
// `npm create operator-builder FOLDER -- OPTIONS`: creates a project, as `operator-builder init -C FOLDER OPTIONS` does.
// Without a folder it uses the current one.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const manifest = createRequire(import.meta.url).resolve('operator-builder/package.json');
await import(pathToFileURL(join(dirname(manifest), 'dist/cli/create-operator-builder.js')).href);
