/** A semantic version 2.0.0. */
export interface Version {
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly preRelease: readonly string[];
}

/** Parses a version; returns a string with the problem if invalid. */
export function parseVersion(text: string): Version | string {
  if (text === '') return 'Version string empty';
  const [, core = '', pre, build] = /^([^-+]*)(?:-([^+]*))?(?:\+(.*))?$/s.exec(text) ?? [];
  const parts = core.split('.');
  if (parts.length !== 3) return 'No Major.Minor.Patch elements found';
  for (const [index, part] of parts.entries()) {
    const name = ['major', 'minor', 'patch'][index] ?? '';
    const title = name.charAt(0).toUpperCase() + name.slice(1);
    if (!/^\d+$/.test(part))
      return `Invalid character(s) found in ${name} number ${JSON.stringify(part)}`;
    if (part.length > 1 && part.startsWith('0')) {
      return `${title} number must not contain leading zeroes ${JSON.stringify(part)}`;
    }
  }
  const preRelease = pre === undefined ? [] : pre.split('.');
  const wrong = preRelease.map(preReleaseProblem).find((problem) => problem !== undefined);
  if (wrong !== undefined) return wrong;
  for (const part of build === undefined ? [] : build.split('.')) {
    if (part === '') return 'Build meta data is empty';
    if (!/^[0-9A-Za-z-]+$/.test(part)) {
      return `Invalid character(s) found in build meta data ${JSON.stringify(part)}`;
    }
  }
  const [major = '0', minor = '0', patch = '0'] = parts;
  return { numbers: [BigInt(major), BigInt(minor), BigInt(patch)], preRelease };
}

function preReleaseProblem(part: string): string | undefined {
  if (part === '') return 'Prerelease is empty';
  if (/^\d+$/.test(part)) {
    if (part.length === 1 || !part.startsWith('0')) return undefined;
    return `Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(part)}`;
  }
  if (/^[0-9A-Za-z-]+$/.test(part)) return undefined;
  return `Invalid character(s) found in prerelease ${JSON.stringify(part)}`;
}

/** Parses a version that may start with `v`, omit parts or have leading zeros. */
export function normalizedVersion(text: string): Version | string {
  const [major = '', minor, ...rest] = text.replace(/^v/, '').split('.');
  const given = minor === undefined ? [major] : [major, minor];
  if (rest.length > 0) given.push(rest.join('.'));
  const parts = given.map((part) => {
    if (part.length <= 1) return part;
    const short = part.replace(/^0+/, '');
    return /^\d/.test(short) ? short : `0${short}`;
  });
  if (parts.length < 3) {
    if (/[-+]/.test(parts.at(-1) ?? '')) {
      return 'short version cannot contain PreRelease/Build meta data';
    }
    while (parts.length < 3) parts.push('0');
  }
  return parseVersion(parts.join('.'));
}

/** Returns -1, 0 or 1 by the rules of precedence. */
export function compareVersions(one: Version, other: Version): number {
  for (const [index, number] of one.numbers.entries()) {
    const counterpart = other.numbers[index] ?? 0n;
    if (number !== counterpart) return number < counterpart ? -1 : 1;
  }
  const [left, right] = [one.preRelease, other.preRelease];
  if (left.length === 0 || right.length === 0) return Math.sign(right.length - left.length) || 0;
  for (const [index, part] of left.entries()) {
    const counterpart = right[index];
    if (counterpart === undefined) return 1;
    const order = compareParts(part, counterpart);
    if (order !== 0) return order;
  }
  return left.length < right.length ? -1 : 0;
}

function compareParts(one: string, other: string): number {
  const [left, right] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (left !== right) return left ? -1 : 1;
  if (one === other) return 0;
  if (left) return BigInt(one) < BigInt(other) ? -1 : 1;
  return one < other ? -1 : 1;
}
