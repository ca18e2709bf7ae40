#!/usr/bin/env node
// `npm create operator-builder FOLDER -- OPTIONS`: creates a project, as `operator-builder init -C FOLDER OPTIONS` does.
// Without a folder it uses the current one.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const manifest = createRequire(import.meta.url).resolve('operator-builder/package.json');
const args = process.argv.slice(2);
const [folder] = args;
const hasFolder = folder !== undefined && !folder.startsWith('-');
const options = hasFolder ? ['-C', folder, ...args.slice(1)] : args;
process.argv.splice(2, args.length, 'init', ...options);
await import(pathToFileURL(join(dirname(manifest), 'dist/cli/main.js')).href);
