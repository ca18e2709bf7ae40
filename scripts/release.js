// Prepares a release, or checks one: `node scripts/release.js 0.2.0` sets the version of both packages and names the
// changes since the last release in CHANGELOG.md after it. `node scripts/release.js --check v0.2.0` fails unless the
// tag, both packages and CHANGELOG.md agree.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import semver from 'semver';

const changelog = 'CHANGELOG.md';
const creator = 'create-operator-builder/package.json';
const read = (path) => readFileSync(path, 'utf8');
const manifest = (path) => JSON.parse(read(path));
const headings = () => [...read(changelog).matchAll(/^## (.+)$/gm)].map(([, title]) => title);

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}

function setManifest(path, change) {
  const changed = { ...manifest(path), ...change };
  writeFileSync(path, `${JSON.stringify(changed, undefined, 2)}\n`);
}

function prepare(version) {
  const { version: current } = manifest('package.json');
  if (semver.valid(version) !== version) fail(`${version} is not a version; want one like 0.2.0`);
  // npm would make it the latest version of all users.
  if (semver.prerelease(version) !== null)
    fail(`${version} is a prerelease: publish it by hand, with --tag next`);
  const isNew = semver.gt(version, current) || !headings().includes(current);
  if (!isNew || semver.lt(version, current)) fail(`${version} is not later than ${current}`);
  const unreleased = /^## Unreleased\n+(?!## )\S/m;
  if (!unreleased.test(read(changelog))) fail(`${changelog} has no changes below "## Unreleased"`);

  writeFileSync(
    changelog,
    read(changelog).replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version}`),
  );
  setManifest('package.json', { version });
  const { dependencies } = manifest(creator);
  setManifest(creator, {
    version,
    dependencies: { ...dependencies, 'operator-builder': `^${version}` },
  });
  const lock = ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', lock, { stdio: 'ignore' });
  console.log(`version ${version}: review the changes, commit them, and push the tag v${version}`);
}

function check(tag = '') {
  const wanted = {
    'package.json': manifest('package.json').version,
    [creator]: manifest(creator).version,
    [`the dependency of ${creator}`]: manifest(creator).dependencies['operator-builder'].slice(1),
  };
  for (const [place, version] of Object.entries(wanted)) {
    if (tag !== `v${version}`) fail(`tag ${tag}: ${place} has version ${version}`);
  }
  const version = tag.slice(1);
  if (!headings().includes(version))
    fail(`tag ${tag}: ${changelog} has no heading "## ${version}"`);
}

const [first = '', second] = process.argv.slice(2);
if (first === '--check') check(second);
else prepare(first);
