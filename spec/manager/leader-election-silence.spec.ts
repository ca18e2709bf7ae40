import { expect } from 'chai';
import { listenHttp } from '../../lib/apiserver/http-adapter.js';
import type { Listener } from '../../lib/apiserver/http-adapter.js';
import { bearerToken, createClient } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { LeaderElector } from '../../lib/manager/leader-election.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import { systemClock } from '../../lib/system/clock.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { leaseKey } from './leader-election-setup.js';
import { startSilentProxy } from './processes/silent-proxy.js';
import type { SilentProxy } from './processes/silent-proxy.js';

const renewDeadlineMs = 800;

/** Allows for other work on the machine. */
const slackMs = 2_000;

/** Real connections, which stay open without any bytes. */
describe('Leader election with a silent server', () => {
  let cluster: EmbeddedCluster;
  let listener: Listener;
  let proxy: SilentProxy;
  let transport: UndiciTransport;
  let elector: LeaderElector;
  let ending: AbortController;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start();
    listener = await listenHttp((request) => cluster.server.transport('a').request(request));
    proxy = await startSilentProxy(Number(new URL(listener.url).port));
    transport = new UndiciTransport({ server: `http://127.0.0.1:${proxy.port}` });
    const client = createClient({ transport, credentials: bearerToken('a') });
    const times = { leaseDurationMs: 1_200, renewDeadlineMs, retryPeriodMs: 100 };
    elector = new LeaderElector({ client, ...leaseKey, ...times });
    ending = new AbortController();
  });

  afterEach(async () => {
    await transport.close();
    await proxy.close();
    await listener.close();
    await cluster.stop();
  });

  /** Becomes the leader. @returns the result of `run` */
  async function leads(): Promise<{ ended: Promise<unknown> }> {
    let ended: Promise<unknown> | undefined;
    await new Promise<void>((resolve) => {
      const run = elector.run({ onStartedLeading: () => resolve() }, ending.signal);
      ended = run.catch((error: unknown) => error);
    });
    return { ended: ended! };
  }

  const timeOf = async (promise: Promise<unknown>): Promise<number> => {
    const startMs = systemClock.monotonicMs();
    await promise;
    return systemClock.monotonicMs() - startMs;
  };

  it('gives up the leadership at its deadline', async () => {
    const { ended } = await leads();
    proxy.silence();
    expect(await timeOf(ended)).to.be.below(renewDeadlineMs + slackMs);
    expect(isOperatorError(await ended, 'LeadershipLost')).to.be.true;
  });

  it('stops before the renew deadline if it leads and cannot release the Lease', async () => {
    const { ended } = await leads();
    proxy.silence();
    ending.abort();
    expect(await timeOf(ended)).to.be.below(renewDeadlineMs + slackMs);
    expect(await ended).to.equal(undefined);
  });

  it('stops before the renew deadline if it is a candidate whose request has no response', async () => {
    proxy.silence();
    const ended = elector.run({}, ending.signal);
    await new Promise(setImmediate);
    ending.abort();
    expect(await timeOf(ended)).to.be.below(renewDeadlineMs + slackMs);
  });
});
