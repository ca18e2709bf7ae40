// Names the repository in the manifests of both packages: `node scripts/repository.js URL`. The release does so before
// it publishes, since npm checks the name against the repository that built the package.
import { readFileSync, writeFileSync } from 'node:fs';

const [url = ''] = process.argv.slice(2);
if (!/^https:\/\/[^/]+(\/[^/]+){2}$/.test(url)) {
  throw new Error(`want the URL of the repository, like https://host/owner/name, got "${url}"`);
}

for (const directory of [undefined, 'create-operator-builder']) {
  const path = directory === undefined ? 'package.json' : `${directory}/package.json`;
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  const named = {
    ...manifest,
    repository: { type: 'git', url: `git+${url}.git`, ...(directory && { directory }) },
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
  };
  writeFileSync(path, `${JSON.stringify(named, undefined, 2)}\n`);
}
