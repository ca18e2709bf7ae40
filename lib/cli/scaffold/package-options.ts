import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, relative, resolve } from 'node:path';
import validRange from 'semver/ranges/valid.js';
import { UsageError } from '../usage-error.js';

/** Options of `init` for the project's package.json. */
export interface PackageOptions {
  readonly repo?: string | undefined;
  readonly license?: string | undefined;
  readonly package?: string | undefined;
}

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
    const wanted = 'want an address, as https://git.example/shop, or owner/name';
    throw new UsageError(`--repo: ${wanted}, got ${JSON.stringify(repo)}`);
  }
  if (license !== undefined && !isLicense(license)) {
    const wanted = 'want an SPDX expression, as Apache-2.0 or (MIT OR ISC), or UNLICENSED';
    const remedy = 'name any other by "SEE LICENSE IN <file>"';
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
 * @param folder - the project's, absolute: base of relative paths
 * @throws UsageError not a version, tag or address, or the file does not exist
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
