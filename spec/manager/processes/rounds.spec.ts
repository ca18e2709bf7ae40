import { expect } from 'chai';
import { listenHttp } from '../../../lib/apiserver/http-adapter.js';
import type { Listener } from '../../../lib/apiserver/http-adapter.js';
import { EmbeddedCluster } from '../../../lib/embedded/index.js';
import type { ConfigMap } from '../../../lib/object/kinds.js';
import type { LoggedRequest, Verdict } from './judge.js';
import { play, rounds } from './rounds.js';
import type { RoundTarget } from './rounds.js';

const verbs: Readonly<Record<string, string>> = { GET: 'get', POST: 'create', PUT: 'update' };

describe('leader election of real processes on the embedded server', function () {
  this.timeout(90_000);
  let cluster: EmbeddedCluster;
  let listener: Listener;
  let verdicts: Map<string, Promise<Verdict>>;

  before(async () => {
    cluster = await EmbeddedCluster.start();
    const log: LoggedRequest[] = [];
    // Users are given at the start: a token is its user's name.
    listener = await listenHttp(async (request) => {
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
    const target: RoundTarget = {
      ...{ port: Number(new URL(listener.url).port), scheme: 'http', ca: undefined },
      namespace: 'default',
      token: async (user) => user,
      prepare: async (name) => {
        const metadata = { namespace: 'default', name };
        await cluster.client().create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
      },
      log: async () => log,
    };
    // Two at a time: most of a round is waiting, but the machine has few cores.
    verdicts = new Map();
    const left = [...rounds];
    const playAll = async (): Promise<void> => {
      for (let round = left.shift(); round !== undefined; round = left.shift()) {
        const verdict = play(target, round);
        verdicts.set(round.name, verdict);
        await verdict.catch(() => undefined);
      }
    };
    await Promise.all([playAll(), playAll()]);
  });

  after(async () => {
    await listener.close();
    await cluster.stop();
  });

  for (const { name, mostMs } of rounds) {
    it(`passes to another within ${mostMs} ms, and no former leader writes, when the leader ${name}`, async () => {
      const { violations, writes, gapMs } = await verdicts.get(name)!;
      expect(violations).to.deep.equal([]);
      expect(writes).to.be.above(10);
      expect(gapMs).to.be.at.most(mostMs);
    });
  }
});
