// Writes the API report of each entry of package.json to api/, from the built types: `npm run api`. With
// `--check`, fails if a report is outdated. The reports show changes of the public API in reviews.
import { mkdirSync, readFileSync } from 'node:fs';
import { URL, fileURLToPath } from 'node:url';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';

const root = fileURLToPath(new URL('..', import.meta.url));
const isCheck = process.argv.includes('--check');
const { exports } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
const compilerOptions = {
  ...{ target: 'es2023', module: 'nodenext', moduleResolution: 'nodenext' },
  ...{ types: ['node'], strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true },
};
// Silences warnings about types that are not exported: users need not name them, so that is intended.
const silent = { default: { logLevel: 'none' } };
mkdirSync(`${root}/api`, { recursive: true });
mkdirSync(`${root}/.cache/api`, { recursive: true });

const stale = [];
for (const [entry, { types }] of Object.entries(exports)) {
  if (types === undefined) continue;
  const name = entry === '.' ? 'index' : entry.slice('./'.length);
  const { apiReportChanged } = Extractor.invoke(configOf(name, types), {
    localBuild: !isCheck,
    messageCallback: (message) => {
      message.handled = true;
    },
  });
  if (apiReportChanged) stale.push(name);
}
const names = stale.map((name) => `api/${name}.api.md`).join(', ');
if (isCheck && stale.length > 0) {
  console.error(`${names}: not current; run npm run build && npm run api, and commit the result`);
  process.exitCode = 1;
} else console.log(stale.length === 0 ? 'the API reports are current' : `wrote ${names}`);

function configOf(name, types) {
  return ExtractorConfig.prepare({
    configObjectFullPath: `${root}/api-extractor.json`,
    packageJsonFullPath: `${root}/package.json`,
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: `${root}/${types}`,
      compiler: { overrideTsconfig: { compilerOptions } },
      apiReport: {
        ...{ enabled: true, includeForgottenExports: false, reportFileName: `${name}.api.md` },
        ...{ reportFolder: `${root}/api`, reportTempFolder: `${root}/.cache/api` },
      },
      ...{ docModel: { enabled: false }, dtsRollup: { enabled: false } },
      tsdocMetadata: { enabled: false },
      messages: {
        ...{ compilerMessageReporting: silent, extractorMessageReporting: silent },
        tsdocMessageReporting: silent,
      },
    },
  });
}
