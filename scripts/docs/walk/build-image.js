// Simulates `docker build -t <name> .` without a container engine. Runs the steps of the Dockerfile on this
// machine, in an empty folder for each stage, then starts the resulting program with --help. This shows whether
// the steps work with only the files of the build context.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';

const [command, ...args] = process.argv.slice(2);
const context = process.cwd();
if (command !== 'build' || args.at(-1) !== '.') throw new Error('want: docker build -t <name> .');

const root = mkdtempSync(join(tmpdir(), 'image-'));
const stages = new Map();
let stage = { folder: root, workdir: '/' };
let entrypoint = [];
const ignored = patterns(join(context, '.dockerignore'));

try {
  for (const [keyword, rest] of instructions(readFileSync(join(context, 'Dockerfile'), 'utf8'))) {
    carryOut(keyword, rest);
  }
  const [, ...words] = entrypoint;
  const flags = words.filter((word) => word.startsWith('--'));
  const [program = '', ...fixed] = words.filter((word) => !word.startsWith('--'));
  const options = { cwd: stage.folder, stdio: ['ignore', 'inherit', 'inherit'] };
  const own = [...flags, join(stage.folder, program), ...fixed, '--help'];
  execFileSync(process.execPath, own, options);
} finally {
  rmSync(root, { recursive: true, force: true });
}

function carryOut(keyword, rest) {
  if (keyword === 'FROM') from(rest);
  else if (keyword === 'WORKDIR') enter(rest);
  else if (keyword === 'COPY') copy(rest.split(/\s+/));
  else if (keyword === 'RUN') run(rest);
  else if (keyword === 'ENTRYPOINT') entrypoint = JSON.parse(rest);
  else if (!['ARG', 'ENV', 'USER', 'LABEL'].includes(keyword))
    throw new Error(`unknown: ${keyword}`);
}

function from(rest) {
  const [, name = String(stages.size)] = / AS (\S+)$/i.exec(rest) ?? [];
  stage = { folder: join(root, name), workdir: '/' };
  mkdirSync(stage.folder);
  stages.set(name, stage);
}

function enter(workdir) {
  stage.workdir = workdir;
  mkdirSync(join(stage.folder, workdir), { recursive: true });
}

function copy(words) {
  const [, source] = /^--from=(.*)$/.exec(words[0] ?? '') ?? [];
  const folder = source === undefined ? context : stages.get(source).folder;
  const given = source === undefined ? words : words.slice(1);
  const target = join(stage.folder, stage.workdir, given.at(-1));
  for (const pattern of given.slice(0, -1)) copyMatches(folder, pattern, { target, source });
}

function copyMatches(folder, pattern, { target, source }) {
  const whole = pattern === '.';
  const parent = whole ? folder : join(folder, dirname(pattern));
  const wanted = glob(whole ? '*' : basename(pattern));
  const filter = (path) => source !== undefined || !isIgnored(relative(context, path));
  const found = readdirSync(parent).filter(
    (name) => wanted.test(name) && filter(join(parent, name)),
  );
  // Like a container engine: only a pattern may match no file.
  if (found.length === 0 && !pattern.includes('*')) throw new Error(`COPY: there is no ${pattern}`);
  for (const name of found) {
    const isFolder = !whole && statSync(join(parent, name)).isDirectory();
    const to = isFolder ? target : join(target, name);
    cpSync(join(parent, name), to, { recursive: true, filter });
  }
}

function isIgnored(path) {
  return ignored.some((one) => one.test(path));
}

function run(script) {
  const cwd = join(stage.folder, stage.workdir);
  execFileSync('sh', ['-c', script], { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Returns the instructions as pairs of keyword and arguments, without comments, with continued lines joined. */
function instructions(text) {
  const lines = text
    .replaceAll(/^\s*#.*$/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n');
  return lines
    .map((line) => /^\s*([A-Z]+)\s+(.*?)\s*$/.exec(line))
    .filter((match) => match !== null)
    .map(([, keyword, rest]) => [keyword, rest]);
}

function patterns(file) {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map(glob);
}

/** Returns a regular expression for a path pattern. `**` matches any number of folders, including none. */
function glob(pattern) {
  const words = { '**/': '(?:.*/)?', '*': '[^/]*' };
  const parts = pattern.replace(/\/$/, '').split(/(\*\*\/|\*)/);
  const escape = (part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${parts.map((part) => words[part] ?? escape(part)).join('')}$`);
}
