import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, relative, resolve } from 'node:path';
import validRange from 'semver/ranges/valid.js';
import { UsageError } from '../usage-error.js';

/** Options of `init` that go into the project's package.json. */
export interface PackageOptions {
  readonly repo?: string | undefined;
  readonly license?: string | undefined;
  readonly package?: string | undefined;
}

/** Where a project has `operator-builder` from. */
export interface PackageSource {
  /** As package.json says it. */
  readonly specifier: string;
  /** A file to be copied into the project, absolute; undefined: there is nothing to copy. */
  readonly tarball?: string | undefined;
}

const spdx = /^[A-Za-z0-9][A-Za-z0-9.+-]*$/;
const spdxWords: ReadonlySet<string> = new Set(['AND', 'OR', 'WITH']);
/** As npm has it: `owner/name`, `github:owner/name`, `git@host:path`. */
const shortRepository =
  /^(?:(?:github|gitlab|bitbucket):)?[\w.-]+\/[\w.-]+$|^git@[\w.-]+:[\w./-]+$/;
const remote = /^(?:https?|git|git\+(?:https?|ssh|file)|ssh):\/\/\S+$/;
const tag = /^[a-z][a-z0-9.-]*$/;
const tarballName = /\.(?:tgz|tar\.gz|tar)$/;

/** @throws UsageError one of them is nothing that npm understands. */
export function checkPackageOptions({ repo, license }: PackageOptions): void {
  if (repo !== undefined && !remote.test(repo) && !shortRepository.test(repo)) {
    const wanted = 'want an address, as https://git.example/shop, or owner/name';
    throw new UsageError(`--repo: ${wanted}, got ${JSON.stringify(repo)}`);
  }
  if (license !== undefined && !isLicense(license)) {
    const wanted = 'want an SPDX expression, as Apache-2.0 or (MIT OR ISC), or UNLICENSED';
    throw new UsageError(`--license: ${wanted}, got ${JSON.stringify(license)}`);
  }
}

function isLicense(text: string): boolean {
  if (/^SEE LICENSE IN \S+$/.test(text)) return true;
  const words = text.replaceAll(/[()]/g, ' ').trim().split(/\s+/);
  return words.every((word, index) =>
    index % 2 === 1 ? spdxWords.has(word) : spdx.test(word) && !spdxWords.has(word),
  );
}

/**
 * Reads `--package`. A tarball is copied into the project: an image is built from the project alone.
 * @param folder - the project's, absolute: where relative paths begin
 * @throws UsageError it is no version, tag or address, or there is no such file.
 */
export async function packageSource(given: string, folder: string): Promise<PackageSource> {
  const isFile = given.startsWith('file:') || /^(?:\.{0,2}|~)\//.test(given);
  const isTarball = tarballName.test(given) && !remote.test(given);
  if (!isFile && !isTarball) {
    if (remote.test(given) || tag.test(given) || validRange(given) !== null) {
      return { specifier: given };
    }
    const wanted = 'want a version, a tag, an address, or the path of a tarball or folder';
    throw new UsageError(`--package: ${wanted}, got ${JSON.stringify(given)}`);
  }
  const place = given.replace(/^file:/, '').replace(/^~(?=\/)/, homedir());
  const path = resolve(folder, place);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) {
    const remedy = "give the path from the project's folder";
    throw new UsageError(`--package: there is no ${path}: ${remedy}`);
  }
  if (found.isDirectory()) return { specifier: given };
  const isInside = !relative(folder, path).startsWith('..');
  if (isInside) return { specifier: `file:${relative(folder, path).replaceAll('\\', '/')}` };
  return { specifier: `file:${basename(path)}`, tarball: path };
}
