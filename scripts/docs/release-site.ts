// Adds the built site to a folder of sites, one for each minor version: `npx tsx scripts/docs/release-site.ts FOLDER`.
// The folder's `index.html` leads to the newest, and `versions.json` lists them for the pages.
import { cp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import semver from 'semver';

const [, , folder] = process.argv;
if (folder === undefined) throw new Error('want the folder of the sites');

const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
const name = `v${semver.major(version)}.${semver.minor(version)}`;
await rm(join(folder, name), { recursive: true, force: true });
await cp('site', join(folder, name), { recursive: true });

const sites = (await readdir(folder)).filter((each) => /^v\d+\.\d+$/.test(each));
const versions = sites.sort((a, b) => semver.rcompare(`${a}.0`, `${b}.0`));
await writeFile(join(folder, 'versions.json'), JSON.stringify(versions));
// Without this file, GitHub Pages would process the site with Jekyll and leave some of its files out.
await writeFile(join(folder, '.nojekyll'), '');
const redirect = `<!doctype html><meta http-equiv="refresh" content="0; url=${versions[0]}/" />\n`;
await writeFile(join(folder, 'index.html'), redirect);
