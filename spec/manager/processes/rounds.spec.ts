import { listenHttp } from '../../../lib/apiserver/http-adapter.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { ConfigMap } from '../../../lib/object/kinds.js';
import type { LoggedRequest } from './judge.js';
import { roundsSuite } from './rounds-suite.js';

const verbs: Readonly<Record<string, string>> = { GET: 'get', POST: 'create', PUT: 'update' };

async function embeddedTarget() {
  const cluster = await EmbeddedCluster.start();
  const log: LoggedRequest[] = [];
  // The token of a user is the user's name.
  const listener = await listenHttp(async (request) => {
    const receivedAtMs = Date.now();
    const user = (request.headers['authorization'] ?? '').replace(/^Bearer /i, '');
    const response = await cluster.server.transport(user).request(request);
    const [path = ''] = request.path.split('?');
    const [, resource = '', name = ''] =
      /\/namespaces\/[^/]+\/([^/]+)(?:\/([^/]+))?/.exec(path) ?? [];
    const verb = verbs[request.method] ?? 'patch';
    log.push({ user, verb, resource, name, code: response.status, receivedAtMs });
    return response;
  });
  return {
    ...{ port: Number(new URL(listener.url).port), scheme: 'http' as const, ca: undefined },
    namespace: 'default',
    token: async (user: string) => user,
    prepare: async (name: string) => {
      const metadata = { namespace: 'default', name };
      await cluster.client().create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    },
    log: async () => log,
    close: async () => {
      await listener.close();
      await cluster.stop();
    },
  };
}

describe('Leader election of real processes on the embedded server', function () {
  this.timeout(90_000);
  roundsSuite(embeddedTarget);
});
