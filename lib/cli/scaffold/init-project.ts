import { copyFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import validRange from 'semver/ranges/valid.js';
import { packageVersion } from '../../client/index.js';
import { OperatorError } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { namesIn, whileWriting } from '../files.js';
import { hasMarker, insertionsOf } from './insertions.js';
import { checkDomain, checkProjectName } from './names.js';
import { carryOut, textIfExists } from './plan-files.js';
import type { PlannedFile, WantedFile } from './plan-files.js';
import { parseProject, projectFileName, withChoices, withKindsOf } from './project-file.js';
import type { Project, ProjectResource } from './project-file.js';
import type { ScaffoldOptions, TestRunner } from './scaffold-command.js';
import { readTemplate } from './template.js';
import type { TemplateFile, TemplateValues } from './template.js';

export interface InitOptions extends ScaffoldOptions {
  readonly domain: string;
  readonly name?: string | undefined;
  readonly repo?: string | undefined;
  readonly license?: string | undefined;
  readonly owner?: string | undefined;
  /** Dependency on `operator-builder`. @defaultValue this version, or a later one */
  readonly package?: string | undefined;
  /** Optional parts of the project. @defaultValue none */
  readonly with?: readonly string[] | undefined;
  /** The test runner of the specs. @defaultValue that of the present project, or 'node' */
  readonly testRunner?: TestRunner | undefined;
}

/**
 * Files of a new repository: dot files, Markdown, `LICENSE` and the like. They may exist and stay unchanged;
 * `kubebuilder init` has the same rule.
 */
const ofRepository = /^\.|\.md$|^(?!PROJECT$)[A-Z]+(?:\.txt)?$/;

/**
 * Creates a project. With `force`, a present project keeps its kinds and optional parts: its files that list kinds stay
 * unchanged.
 * @throws UsageError invalid name, or another name or domain than that of a present project with kinds
 * @throws OperatorError `InvalidConfig`: the folder is not empty, or its PROJECT is invalid
 */
export async function initProject(
  options: InitOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const folder = resolve(context.cwd, options.directory);
  const present = options.force ? await presentProject(folder) : undefined;
  const { domain, name = present?.project.name ?? basename(folder) } = options;
  const isGiven = options.name !== undefined;
  checkProjectName(
    name,
    isGiven ? '--name' : 'give --name, because the name of the folder is invalid',
  );
  checkDomain(domain);
  const hasKinds = present !== undefined && present.project.resources.length > 0;
  const { testRunner = present?.project.testRunner ?? 'node' } = options;
  if (hasKinds) refuseOther({ name, domain, testRunner }, present.project);
  if (hasKinds) await refuseMoreParts(options.with ?? [], present.project);
  checkPackageOptions(options);
  const { package: given = `^${packageVersion}` } = options;
  const { specifier, tarball } = await packageSource(given, folder);
  if (!options.force) await refuseFull(folder);
  const parts = partsOf([...(present?.project.parts ?? []), ...(options.with ?? [])]);
  const project = { name, domain };
  const files = [...(await initFiles(project)), ...(await partFiles(project, parts))];
  const filled: Readonly<Record<string, (text: string) => string>> = {
    'package.json': (text) => packageText(text, { ...options, testRunner }, specifier),
    [projectFileName]: (text) => {
      const chosen = withChoices(text, { parts, testRunner }, projectFileName);
      return present === undefined ? chosen : withKindsOf(present.text, chosen, projectFileName);
    },
    '.vscode/launch.json': (text) => launchText(text, testRunner),
  };
  const wanted = files.map(({ path, text }) => {
    const stays = ofRepository.test(path) || (hasKinds && hasMarker(text));
    const type = stays ? 'default' : 'whole';
    return { type, path, text: filled[path]?.(text) ?? text } as const;
  });
  const kind = '--group <group> --version v1alpha1 --kind <Kind>';
  const next = ['npm install', `npx operator-builder create api ${kind}`, 'npm test'];
  const written = await carryOut({ wanted, next }, options, context);
  if (tarball === undefined || options.dryRun) return written;
  const place = join(folder, basename(tarball));
  await whileWriting(place, () => copyFile(tarball, place));
  return written;
}

/**
 * Returns the files of a project without kinds.
 * @param runs - a program of the project, or this program with declarative operators
 */
export function initFiles(
  { name, domain }: Readonly<Record<'name' | 'domain', string>>,
  runs: 'program' | 'declarative' = 'program',
): Promise<readonly TemplateFile[]> {
  const words = {
    ...{ 'operator-name': name, 'domain.example': domain },
    'version-of-cli': packageVersion,
  };
  return readTemplate('init', { words, conditions: new Set([runs]) });
}

async function refuseFull(folder: string): Promise<void> {
  const found = (await namesIn(folder)).filter((name) => !ofRepository.test(name));
  if (found.length === 0) return;
  const some = found.slice(0, 5).join(', ') + (found.length > 5 ? ', …' : '');
  const remedy = 'choose an empty folder, or pass --force to overwrite files of the same names';
  throw new OperatorError('InvalidConfig', `${folder} is not empty (${some}); ${remedy}`);
}

/** Returns the project in a folder, and the text of its file; undefined without a project. */
async function presentProject(folder: string) {
  const path = join(folder, projectFileName);
  const text = await textIfExists(path);
  return text === undefined ? undefined : { text, project: parseProject(text, path) };
}

type Given = Named & Required<Pick<Project, 'testRunner'>>;

/** Refuses options that differ from those which the files of the kinds were created with. */
function refuseOther(given: Given, { testRunner = 'node', ...rest }: Project): void {
  const present: Given = { ...rest, testRunner };
  const flags = { name: '--name', domain: '--domain', testRunner: '--test-runner' } as const;
  for (const field of ['name', 'domain', 'testRunner'] as const) {
    if (given[field] === present[field]) continue;
    const what = `the kinds of the project were created with ${present[field]}`;
    throw new UsageError(`${flags[field]}: ${what}; give the same, or choose an empty folder`);
  }
}

/** Refuses further optional parts whose files list kinds: new files would lack the kinds that the project has. */
async function refuseMoreParts(given: readonly string[], project: Project): Promise<void> {
  const { parts = [] } = project;
  const more = given.filter((part) => !parts.includes(part));
  const files = await partFiles(project, partsOf(more));
  if (!files.some(({ text }) => hasMarker(text))) return;
  const remedy =
    'create a project with it and with the same kinds in an empty folder, and copy its files';
  throw new UsageError(
    `--with ${more.join(',')}: the project has kinds, which its files would lack; ${remedy}`,
  );
}

function packageText(
  text: string,
  { repo, license, owner, testRunner }: InitOptions & { readonly testRunner: TestRunner },
  specifier: string,
): string {
  const { name, version, dependencies, ...rest } = JSON.parse(text) as Record<string, unknown>;
  const content = {
    ...{ name, version },
    ...(license !== undefined && { license }),
    ...(owner !== undefined && { author: owner }),
    ...(repo !== undefined && { repository: repo }),
    ...rest,
    dependencies: { ...(dependencies as object), 'operator-builder': specifier },
  };
  // The development dependencies are last, as npm writes them.
  const adapted: Readonly<Record<string, unknown>> = withTestRunner(content, testRunner);
  const { devDependencies, ...others } = adapted;
  return `${JSON.stringify({ ...others, devDependencies }, undefined, 2)}\n`;
}

/** Options of `init` for the project's package.json. */
export type PackageOptions = Pick<InitOptions, 'repo' | 'license' | 'package'>;

/** Source of a project's dependency on `operator-builder`. */
export interface PackageSource {
  /** Specifier in package.json. */
  readonly specifier: string;
  /** File to copy into the project, absolute; undefined: copy nothing. */
  readonly tarball?: string | undefined;
}

/** SPDX identifiers: those approved by the OSI, and others in common use. */
const licenses: ReadonlySet<string> = new Set(
  [
    '0BSD AAL AFL-1.1 AFL-1.2 AFL-2.0 AFL-2.1 AFL-3.0 AGPL-3.0 AGPL-3.0-only AGPL-3.0-or-later',
    'Apache-1.0 Apache-1.1 Apache-2.0 APL-1.0 APSL-1.0 APSL-1.1 APSL-1.2 APSL-2.0 Artistic-1.0',
    'Artistic-1.0-Perl Artistic-1.0-cl8 Artistic-2.0 Beerware BlueOak-1.0.0 BSD-1-Clause BSD-2-Clause',
    'BSD-2-Clause-Patent BSD-3-Clause BSD-3-Clause-Clear BSD-3-Clause-LBNL BSD-4-Clause BSL-1.0',
    'BUSL-1.1 CAL-1.0 CATOSL-1.1 CC-BY-3.0 CC-BY-4.0 CC-BY-NC-4.0 CC-BY-NC-ND-4.0 CC-BY-NC-SA-4.0',
    'CC-BY-ND-4.0 CC-BY-SA-3.0 CC-BY-SA-4.0 CC0-1.0 CDDL-1.0 CDDL-1.1 CECILL-2.1 CERN-OHL-P-2.0',
    'CERN-OHL-S-2.0 CERN-OHL-W-2.0 CNRI-Python CPAL-1.0 CPL-1.0 CUA-OPL-1.0 curl ECL-1.0 ECL-2.0',
    'EFL-1.0 EFL-2.0 Elastic-2.0 Entessa EPL-1.0 EPL-2.0 EUDatagrid EUPL-1.0 EUPL-1.1 EUPL-1.2 Fair',
    'Frameworx-1.0 GPL-1.0 GPL-2.0 GPL-2.0-only GPL-2.0-or-later GPL-3.0 GPL-3.0-only GPL-3.0-or-later',
    'HPND ICU Intel IPA IPL-1.0 ISC Jam JSON LGPL-2.0 LGPL-2.0-only LGPL-2.0-or-later LGPL-2.1',
    'LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0 LGPL-3.0-only LGPL-3.0-or-later Libpng LiLiQ-P-1.1',
    'LiLiQ-R-1.1 LiLiQ-Rplus-1.1 LPL-1.0 LPL-1.02 LPPL-1.3c MirOS MIT MIT-0 MIT-Modern-Variant',
    'Motosoto MPL-1.0 MPL-1.1 MPL-2.0 MPL-2.0-no-copyleft-exception MS-PL MS-RL MulanPSL-2.0',
    'Multics NASA-1.3 Naumen NCSA NGPL Nokia NPOSL-3.0 NTP OCLC-2.0 OFL-1.1 OFL-1.1-no-RFN',
    'OFL-1.1-RFN OGTSL OLDAP-2.8 OLFL-1.3 OpenSSL OSET-PL-2.1 OSL-1.0 OSL-2.0 OSL-2.1 OSL-3.0',
    'PHP-3.0 PHP-3.01 PolyForm-Noncommercial-1.0.0 PolyForm-Small-Business-1.0.0 PostgreSQL PSF-2.0',
    'Python-2.0 QPL-1.0 RPL-1.1 RPL-1.5 RPSL-1.0 RSCPL Ruby SimPL-2.0 SISSL Sleepycat SPL-1.0 SSPL-1.0',
    'UCL-1.0 Unicode-3.0 Unicode-DFS-2016 Unlicense UPL-1.0 Vim VSL-1.0 W3C Watcom-1.0 WTFPL X11',
    'Xnet Zlib ZPL-2.0 ZPL-2.1',
  ].flatMap((line) => line.split(' ')),
);
const ownLicense = /^(?:UNLICENSED|(?:DocumentRef-[\w.-]+:)?LicenseRef-[\w.-]+)$/;
const exception = /^[A-Za-z0-9][\w.-]*-exception(?:-[\w.-]+)?$|^LicenseRef-[\w.-]+$/;
/** npm's short forms: `owner/name`, `github:owner/name`, `git@host:path`. */
const shortRepository =
  /^(?:(?:github|gitlab|bitbucket):)?[\w.-]+\/[\w.-]+$|^git@[\w.-]+:[\w./-]+$/;
const remote = /^(?:https?|git|git\+(?:https?|ssh|file)|ssh):\/\/\S+$/;
const tag = /^[a-z][a-z0-9.-]*$/;
const tarballName = /\.(?:tgz|tar\.gz|tar)$/;

/** @throws UsageError a value that npm does not understand */
export function checkPackageOptions({ repo, license }: PackageOptions): void {
  if (repo !== undefined && !remote.test(repo) && !shortRepository.test(repo)) {
    const wanted = 'want a URL such as https://git.example/shop, or owner/name';
    throw new UsageError(`--repo: ${wanted}, got ${JSON.stringify(repo)}`);
  }
  if (license !== undefined && !isLicense(license)) {
    const wanted = 'want an SPDX expression such as Apache-2.0 or (MIT OR ISC), or UNLICENSED';
    const remedy = 'for other licenses write "SEE LICENSE IN <file>"';
    throw new UsageError(`--license: ${wanted}, got ${JSON.stringify(license)}; ${remedy}`);
  }
}

function isLicense(text: string): boolean {
  if (/^SEE LICENSE IN \S+$/.test(text)) return true;
  const words = text.replaceAll(/[()]/g, ' ').trim().split(/\s+/);
  return (
    words.every((word, index) => {
      if (index % 2 === 1) return /^(?:AND|OR|WITH)$/.test(word);
      if (words[index - 1] === 'WITH') return exception.test(word);
      return licenses.has(word.replace(/\+$/, '')) || ownLicense.test(word);
    }) && words.length % 2 === 1
  );
}

/**
 * Parses `--package`. A tarball is copied into the project, since images are built from the project alone.
 * @param folder - the absolute path of the project, to which relative paths refer
 * @throws UsageError not a version, tag or address, or the file does not exist
 */
export async function packageSource(given: string, folder: string): Promise<PackageSource> {
  const isFile = given.startsWith('file:') || /^(?:\.{0,2}|~)\//.test(given);
  const isTarball = tarballName.test(given) && !remote.test(given);
  if (!isFile && !isTarball) {
    if (remote.test(given) || tag.test(given) || validRange(given) !== null) {
      return { specifier: given };
    }
    const wanted = 'want a version, a tag, a URL, or the path of a tarball or folder';
    throw new UsageError(`--package: ${wanted}, got ${JSON.stringify(given)}`);
  }
  const place = given.replace(/^file:/, '').replace(/^~(?=\/)/, homedir());
  const path = resolve(folder, place);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) {
    const remedy = 'paths are relative to the folder of the project';
    throw new UsageError(`--package: ${path} does not exist; ${remedy}`);
  }
  if (found.isDirectory()) return { specifier: given };
  const isInside = !relative(folder, path).startsWith('..');
  if (isInside) return { specifier: `file:${relative(folder, path).replaceAll('\\', '/')}` };
  return { specifier: `file:${basename(path)}`, tarball: path };
}

const vitestVersion = '^4.1.12';
const timeouts = '--testTimeout=60000 --hookTimeout=60000';

/** Adds the dependencies and scripts of the test runner to package.json. */
export function withTestRunner<T extends Readonly<Record<string, unknown>>>(
  manifest: T,
  runner: TestRunner,
): T {
  if (runner === 'node') return manifest;
  const { scripts, devDependencies } = manifest;
  return {
    ...manifest,
    scripts: { ...(scripts as object), test: `vitest run ${timeouts}` },
    devDependencies: { ...(devDependencies as object), vitest: vitestVersion },
  };
}

/** Adapts tests to the project's test runner; templates use `node:test`. */
export function forTestRunner(
  wanted: readonly WantedFile[],
  { testRunner }: Pick<Project, 'testRunner'>,
): readonly WantedFile[] {
  if (testRunner !== 'vitest') return wanted;
  return wanted.map((file) =>
    file.type === 'whole' && file.path.endsWith('.test.ts')
      ? { ...file, text: forVitest(file.text) }
      : file,
  );
}

function forVitest(text: string): string {
  return text
    .replace("import { test } from 'node:test'", "import { test } from 'vitest'")
    .replace(
      "import { after, before, test } from 'node:test'",
      "import { afterAll as after, beforeAll as before, test } from 'vitest'",
    )
    .replaceAll('async (t) => {', 'async ({ onTestFinished }) => {')
    .replaceAll('t.after(', 'onTestFinished(');
}

/** Returns the debug configurations of Visual Studio Code, including one for the runner's tests. */
export function launchText(text: string, runner: TestRunner): string {
  if (runner === 'node') return text;
  const ofNode = `"runtimeArgs": ["--import", "tsx"],
      "program": "\${file}",`;
  return text.replace(
    ofNode,
    () => `"program": "\${workspaceFolder}/node_modules/vitest/vitest.mjs",
      "args": ["run", "\${relativeFile}"],`,
  );
}

/** Optional parts of a project, by the names of their templates. */
export const projectParts = ['scorecard', 'olm'] as const;

export type ProjectPart = (typeof projectParts)[number];

type Named = Pick<Project, 'name' | 'domain'>;

/** Returns the named parts without duplicates. @throws UsageError unknown part */
export function partsOf(names: readonly string[]): readonly ProjectPart[] {
  const parts = names.map(partOf);
  return projectParts.filter((part) => parts.includes(part));
}

export async function partFiles(
  project: Named,
  parts: readonly ProjectPart[],
): Promise<readonly TemplateFile[]> {
  const values = valuesOf(project, new Set(parts));
  const files = await Promise.all(parts.map((part) => readTemplate(part, values)));
  return files.flat();
}

function partOf(name: string): ProjectPart {
  const part = projectParts.find((one) => one === name);
  if (part !== undefined) return part;
  throw new UsageError(`--with: want ${projectParts.join(', ')}, got ${JSON.stringify(name)}`);
}

function valuesOf(
  { name, domain }: Named,
  conditions: ReadonlySet<string>,
  resource?: ProjectResource,
): TemplateValues {
  const words = { 'operator-name': name, 'domain.example': domain };
  if (resource === undefined) return { words, conditions };
  const { group, version, kind, plural } = resource;
  const own = { KindName: kind, kindnames: plural, groupname: group, v99alpha99: version };
  return { words: { ...words, ...own }, conditions };
}

/** Returns what a new kind inserts into files that the project has: its entries in the OLM catalogue. */
export async function partInsertions(
  project: Project,
  resource: ProjectResource,
  folder: string,
): Promise<readonly WantedFile[]> {
  const bare = await readTemplate('olm', valuesOf(project, new Set()));
  const more = await readTemplate('olm-api', valuesOf(project, new Set(), resource));
  const wanted: WantedFile[] = [];
  for (const { path, text } of more) {
    const before = bare.find((file) => file.path === path);
    if (before === undefined || (await textIfExists(join(folder, path))) === undefined) continue;
    wanted.push({ type: 'insert', path, insertions: insertionsOf(before.text, text) });
  }
  return wanted;
}
