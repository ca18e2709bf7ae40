import { expect } from 'chai';
import { listenHttp } from '../../../lib/apiserver/http-adapter.js';
import type { Listener } from '../../../lib/apiserver/http-adapter.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { sleep, systemClock } from '../../../lib/system/clock.js';
import { ReplicaProcess } from './replica-process.js';

const renewDeadlineMs = 2_000;

describe('A write of the leader that waits for a free connection', function () {
  this.timeout(60_000);
  let cluster: EmbeddedCluster;
  let listener: Listener;
  let replica: ReplicaProcess;
  /** The ConfigMaps whose writes arrived. */
  let came: string[];
  let busyCame: Promise<void>;
  let answerBusy: () => void;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start();
    came = [];
    const answered = new Promise<void>((resolve) => (answerBusy = resolve));
    let arrived = (): void => undefined;
    busyCame = new Promise((resolve) => (arrived = resolve));
    listener = await listenHttp(async (request) => {
      const [, name] = /\/configmaps\/(\w+)/.exec(request.path) ?? [];
      if (name !== undefined) came.push(name);
      if (name === 'busy') {
        arrived();
        await answered;
      }
      return cluster.server.transport('a').request(request);
    });
    const lease = { namespace: 'default', lease: 'queued', identity: 'a', wallSkewMs: 0 };
    const server = { url: listener.url, ca: undefined, token: 'a' };
    replica = new ReplicaProcess({ ...server, ...lease, queues: true });
    await replica.once('queued');
    await busyCame;
  });

  afterEach(async () => {
    await replica.end();
    await listener.close();
    await cluster.stop();
  });

  it('is sent when the connection becomes free while the process holds the Lease', async () => {
    answerBusy();
    await replica.when('settled', () => replica.count('sent') + replica.count('refused') > 0);
    expect(came).to.deep.equal(['busy', 'queued']);
  });

  it('never reaches the server if the process is stopped until the renew deadline is over', async () => {
    replica.signal('SIGSTOP');
    // The connection is free from now on, but the process is stopped.
    answerBusy();
    await sleep(systemClock, renewDeadlineMs + 100);
    replica.signal('SIGCONT');
    await replica.once('refused');
    await replica.once('lost');
    expect([came, replica.count('sent')]).to.deep.equal([['busy'], 0]);
  });
});
