import { copyFile, readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { packageVersion } from '../../client/client-options.js';
import { OperatorError } from '../../system/operator-error.js';
import type { CommandContext } from '../command-context.js';
import { fileError, whileWriting } from '../file-error.js';
import { carryOut } from './carry-out.js';
import { checkDomain, checkProjectName } from './names.js';
import { checkPackageOptions, packageSource } from './package-options.js';
import type { PlannedFile } from './plan-files.js';
import { projectFileName, withChoices } from './project-file.js';
import { partFiles, partsOf } from './project-parts.js';
import type { ScaffoldOptions } from './scaffold-command.js';
import { readTemplate } from './template.js';
import type { TemplateFile } from './template.js';
import { launchText, withTestRunner } from './test-runner.js';
import type { TestRunner } from './test-runner.js';

/** Options of `operator-builder init`. */
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
  /** @defaultValue 'node' */
  readonly testRunner?: TestRunner | undefined;
}

/**
 * Files of a new repository: dot files, Markdown, `LICENSE` and the like. They may exist and stay unchanged;
 * `kubebuilder init` has the same rule.
 */
const ofRepository = /^\.|\.md$|^(?!PROJECT$)[A-Z]+(?:\.txt)?$/;

/**
 * Creates a project.
 * @throws UsageError invalid name
 * @throws OperatorError `InvalidConfig`: the folder is not empty
 */
export async function initProject(
  options: InitOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const folder = resolve(context.cwd, options.directory);
  const { domain, name = basename(folder) } = options;
  const isGiven = options.name !== undefined;
  checkProjectName(name, isGiven ? '--name' : "give --name, for the folder's can't be taken");
  checkDomain(domain);
  checkPackageOptions(options);
  const { package: given = `^${packageVersion}` } = options;
  const { specifier, tarball } = await packageSource(given, folder);
  if (!options.force) await refuseFull(folder);
  const parts = partsOf(options.with ?? []);
  const project = { name, domain };
  const { testRunner = 'node' } = options;
  const files = [...(await initFiles(project)), ...(await partFiles(project, parts))];
  const filled: Readonly<Record<string, (text: string) => string>> = {
    'package.json': (text) => packageText(text, options, specifier),
    [projectFileName]: (text) => withChoices(text, { parts, testRunner }, projectFileName),
    '.vscode/launch.json': (text) => launchText(text, testRunner),
  };
  const wanted = files.map(({ path, text }) => {
    const type = ofRepository.test(path) ? 'default' : 'whole';
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

/** Returns the files of a project without kinds. */
export function initFiles(
  project: Readonly<Record<'name' | 'domain', string>>,
): Promise<readonly TemplateFile[]> {
  const { name, domain } = project;
  const words = {
    ...{ 'operator-name': name, 'domain.example': domain },
    'version-of-cli': packageVersion,
  };
  return readTemplate('init', { words, conditions: new Set() });
}

async function refuseFull(folder: string): Promise<void> {
  const found = (await namesIn(folder)).filter((name) => !ofRepository.test(name));
  if (found.length === 0) return;
  const some = found.slice(0, 5).join(', ') + (found.length > 5 ? ', …' : '');
  const remedy =
    'take an empty folder, or --force, which overwrites generated files of the same names';
  throw new OperatorError('InvalidConfig', `${folder} is not empty (${some}): ${remedy}`);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw fileError(folder, 'read', error);
  }
}

function packageText(text: string, options: InitOptions, specifier: string): string {
  const { repo, license, owner, testRunner = 'node' } = options;
  const { name, version, dependencies, ...rest } = JSON.parse(text) as Record<string, unknown>;
  const content = {
    ...{ name, version },
    ...(license !== undefined && { license }),
    ...(owner !== undefined && { author: owner }),
    ...(repo !== undefined && { repository: repo }),
    ...rest,
    dependencies: { ...(dependencies as object), 'operator-builder': specifier },
  };
  return `${JSON.stringify(sorted(withTestRunner(content, testRunner)), undefined, 2)}\n`;
}

/** Puts the development dependencies last, as npm does. */
function sorted({ devDependencies, ...rest }: Readonly<Record<string, unknown>>): object {
  return { ...rest, devDependencies };
}
