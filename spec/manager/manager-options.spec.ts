import { expect } from 'chai';
import type { Client } from '../../lib/client/index.js';
import { Manager } from '../../lib/manager/index.js';
import type { HealthOptions, ManagerOptions, MetricsOptions } from '../../lib/manager/index.js';
import { resolveManagerOptions } from '../../lib/manager/manager-options.js';

const client = {} as Client;

describe('The options of a manager', () => {
  it('default to the times and ports that the docs name, and to no servers for health, metrics and the inspector', () => {
    expect(resolveManagerOptions({ client })).to.deep.include({
      ...{ name: 'operator-builder', clusters: [{ name: '', client }], cacheOptions: {} },
      ...{ leaderElection: undefined, whenLeadershipIsLost: 'fail', rbacPreflight: 'warn' },
      ...{ health: undefined, metrics: undefined, inspector: undefined, requires: [] },
      ...{ gracefulShutdownMs: 30_000, startTimeoutMs: 120_000, cacheSyncTimeoutMs: Infinity },
    });
    const servers = { health: {}, metrics: {}, inspector: {} };
    const { health, metrics, inspector } = resolveManagerOptions({ client, ...servers });
    expect(health).to.deep.equal({
      ...{ host: undefined, port: 8081, checkTimeoutMs: 5_000, stallMs: 10_000 },
      stuckReconcileFactor: 10,
    });
    expect(metrics).to.deep.equal({
      ...{ registry: undefined, serve: true, host: undefined, port: 8080, certificate: undefined },
      ...{ access: 'everyone', processMetrics: true },
    });
    expect(inspector).to.include({ host: '127.0.0.1', port: 8082 });
  });

  const clusters = (...names: readonly string[]) => names.map((name) => ({ name, client }));
  const health = (options: HealthOptions): ManagerOptions => ({ client, health: options });
  const metrics = (options: MetricsOptions): ManagerOptions => ({ client, metrics: options });

  it('accept the smallest and largest valid values', () => {
    const accepted: readonly ManagerOptions[] = [
      { client, gracefulShutdownMs: 0, startTimeoutMs: 0, cacheSyncTimeoutMs: 0 },
      { client, gracefulShutdownMs: Infinity, startTimeoutMs: Infinity },
      health({ checkTimeoutMs: 0.1, stallMs: 0.1, stuckReconcileFactor: 1 }),
      health({ stuckReconcileFactor: Infinity }),
      ...[metrics({ port: 0 }), metrics({ port: 65_535 }), { clusters: clusters('a', 'b') }],
    ];
    for (const options of accepted) expect(new Manager(options).phase).to.equal('new');
  });

  for (const [what, options, why] of [
    ['no cluster', {}, 'client is missing; give client, or clusters'],
    ['no clusters', { clusters: [] }, 'client is missing; give client, or clusters'],
    [
      'a client beside clusters',
      { client, clusters: clusters('a') },
      'want client or clusters, not both',
    ],
    [
      'two clusters of one name',
      { clusters: clusters('a', 'b', 'a') },
      'two clusters are called a; give one of them another name',
    ],
    [
      'a slash in a name',
      { clusters: clusters('a', 'b/c') },
      'cluster name: want a name that is not empty and has no slash, got "b/c"',
    ],
    [
      'a cluster without a name',
      { clusters: clusters('') },
      'cluster name: want a name that is not empty and has no slash, got ""',
    ],
    [
      'an unknown reaction to a lost lease',
      { client, whenLeadershipIsLost: 'Standby' as never },
      'whenLeadershipIsLost "Standby": want fail, standby',
    ],
    [
      'an unknown preflight',
      { client, rbacPreflight: '' as never },
      'rbacPreflight "": want off, warn, fail',
    ],
    [
      'an unknown access to metrics',
      metrics({ access: 'review' as never }),
      'access "review": want everyone or reviewed',
    ],
    ['a negative time', { client, gracefulShutdownMs: -1 }, 'gracefulShutdownMs -1: want 0 or'],
    ['a start time of NaN', { client, startTimeoutMs: NaN }, 'startTimeoutMs NaN'],
    ['a sync time of NaN', { client, cacheSyncTimeoutMs: NaN }, 'cacheSyncTimeoutMs NaN'],
    ['a check without time', health({ checkTimeoutMs: 0 }), 'checkTimeoutMs 0: want more than 0'],
    ['a stall of 0 ms', health({ stallMs: 0 }), 'stallMs 0: want more than 0'],
    ['a factor below 1', health({ stuckReconcileFactor: 0.9 }), 'stuckReconcileFactor 0.9'],
    ['a port beyond the last', metrics({ port: 65_536 }), 'port 65536: want 0 to 65535'],
    ['a negative port', metrics({ port: -1 }), 'port -1'],
    ['half a port', metrics({ port: 0.5 }), 'port 0.5'],
  ] as const) {
    it(`reject ${what}`, () => {
      const make = (): unknown => new Manager(options);
      expect(make).to.throw(why).with.property('code', 'InvalidOption');
    });
  }
});
