import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { eventually } from '../../spec/cluster/control-plane/eventually.js';
import { startControlPlane } from '../../spec/cluster/control-plane/index.js';
import type { ApiConnection } from '../../spec/cluster/control-plane/index.js';

/**
 * Writes the discovery and OpenAPI documents of a real API server into a folder, unchanged:
 *
 * - `v3/index.json`, `v3/<path>.json`: `/openapi/v3` and each document that it lists, with `_` for
 *   each `/` of the path (`v3/apis_apps_v1.json`)
 * - `v2.json`: `/openapi/v2`
 * - `discovery-api.json`, `discovery-apis.json`: aggregated discovery of `/api` and `/apis`
 * - `legacy/api.json`, `legacy/apis.json`, `legacy/<path>.json`: unaggregated discovery
 * - `legacy/root.json`: `/`, the list of all paths
 * - `version.json`: `/version`
 *
 * Usage: `npx tsx scripts/openapi/dump.ts <folder>`
 */
async function main(folder: string | undefined): Promise<void> {
  if (folder === undefined) throw new Error('usage: tsx scripts/openapi/dump.ts <folder>');
  const controlPlane = await startControlPlane();
  try {
    const dump = new Dump(controlPlane.api, folder);
    await dump.openApi();
    await dump.aggregatedDiscovery();
    await dump.roles();
    await dump.legacyDiscovery();
    await dump.save('/version', 'version.json');
    console.log(`${dump.files} files in ${folder}`);
  } finally {
    await controlPlane.stop();
  }
}

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface GroupList {
  readonly groups: readonly {
    readonly name: string;
    readonly versions: readonly { readonly groupVersion: string }[];
  }[];
}

interface OpenApiIndex {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
}

class Dump {
  readonly #api: ApiConnection;
  readonly #folder: string;
  files = 0;

  constructor(api: ApiConnection, folder: string) {
    this.#api = api;
    this.#folder = folder;
  }

  async openApi(): Promise<void> {
    const { paths } = await eventually(() => this.#completeIndex());
    await this.save('/openapi/v3', 'v3/index.json');
    for (const [path, { serverRelativeURL }] of Object.entries(paths)) {
      await this.save(serverRelativeURL, `v3/${fileName(path)}`);
    }
    await this.save('/openapi/v2', 'v2.json');
  }

  async aggregatedDiscovery(): Promise<void> {
    await this.save('/api', 'discovery-api.json', aggregated);
    await this.save('/apis', 'discovery-apis.json', aggregated);
  }

  async legacyDiscovery(): Promise<void> {
    await this.save('/', 'legacy/root.json');
    for (const path of ['/api', '/apis', '/api/v1']) await this.save(path, legacy(path));
    for (const { name, versions } of await this.#groups()) {
      const groupVersions = versions.map(({ groupVersion }) => groupVersion);
      for (const path of [name, ...groupVersions].map((each) => `/apis/${each}`)) {
        await this.save(path, legacy(path));
      }
    }
  }

  /** Writes the roles of a new cluster. */
  async roles(): Promise<void> {
    for (const plural of ['clusterroles', 'clusterrolebindings']) {
      await this.save(`/apis/rbac.authorization.k8s.io/v1/${plural}`, `${plural}.json`);
    }
  }

  async save(path: string, file: string, accept = 'application/json'): Promise<void> {
    const { status, text } = await this.#api.send({ path, accept });
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
    const target = join(this.#folder, file);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
    this.files++;
  }

  /** Waits for the complete index, which the server fills only after it is ready. */
  async #completeIndex(): Promise<OpenApiIndex> {
    const index = await this.#api.json<OpenApiIndex>({ path: '/openapi/v3' });
    const groups = await this.#groups();
    const served = groups.flatMap(({ versions }) => versions);
    const missing = served.filter(({ groupVersion }) => !(`apis/${groupVersion}` in index.paths));
    if (missing.length > 0) throw new Error(`no OpenAPI for ${JSON.stringify(missing)}`);
    return index;
  }

  async #groups(): Promise<GroupList['groups']> {
    return (await this.#api.json<GroupList>({ path: '/apis' })).groups;
  }
}

function legacy(path: string): string {
  return `legacy/${fileName(path.slice(1))}`;
}

function fileName(path: string): string {
  return `${path.replaceAll('/', '_')}.json`;
}

await main(process.argv[2]);
