import { bearerToken, createClient, fenced } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { LeaderElector } from '../../../lib/manager/leader-election.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { sleep, systemClock } from '../../../lib/system/clock.js';
import type { Clock } from '../../../lib/system/clock.js';
import type { Transport } from '../../../lib/system/transport.js';
import { UndiciTransport } from '../../../lib/system/undici-transport.js';
import type { ReplicaSettings, ReplicaEvent } from './replica-settings.js';

/** Runs a candidate that writes as long as its fence allows, even after its term. */
async function main(): Promise<void> {
  const settings = JSON.parse(process.argv[2] ?? '') as ReplicaSettings;
  const { url, ca, token, namespace, lease, identity, wallSkewMs, queues } = settings;
  const skewMs = (): number =>
    Math.floor(systemClock.monotonicMs() / 1_000) % 2 === 0 ? wallSkewMs : -wallSkewMs;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + skewMs() };
  const tls = ca === undefined ? {} : { ca };
  const newClient = (maxConnections: number): Client =>
    createClient({
      transport: timed(new UndiciTransport({ server: url, tls, maxConnections })),
      credentials: bearerToken(token),
      clock,
    });
  const client = newClient(4);
  const times = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 };
  const elector = new LeaderElector({ client, name: lease, namespace, identity, clock, ...times });
  const writer = fenced(client, elector.fence);
  const ending = new AbortController();
  process.once('SIGTERM', () => ending.abort());
  // The parent process is gone.
  process.stdin.once('end', () => process.exit()).resume();
  let written = 0;
  const write = async (): Promise<void> => {
    const body = { data: { by: identity, at: String(written) } };
    await writer.patch(ConfigMap, { namespace, name: lease }, { type: 'merge', body });
    written += 1;
    if (written % 5 === 0) tell('wrote');
  };
  const keepWriting = async (): Promise<void> => {
    for (;;) {
      // Neither awaited nor stopped, so that only the fence prevents the write.
      void write().catch(() => undefined);
      await sleep(clock, 40);
    }
  };
  let isWriting = false;
  const onStartedLeading = (): void => {
    tell('leads');
    // From its first term on, even after the term has ended.
    if (!isWriting) void (queues === true ? queueUp(newClient(1), elector) : keepWriting());
    isWriting = true;
  };
  const isEnding = (): boolean => ending.signal.aborted;
  while (!isEnding()) {
    try {
      await elector.run({ onStartedLeading, onNewLeader: () => tell('sees') }, ending.signal);
      tell('gave back');
    } catch {
      // Runs for election again, like a restarted process.
      tell('lost');
    }
  }
  process.exit();
}

/** Writes the ConfigMaps `busy` and `queued` over one connection. */
async function queueUp(client: Client, { fence }: LeaderElector): Promise<void> {
  const writer = fenced(client, fence);
  const write = (name: string): Promise<unknown> =>
    writer.patch(ConfigMap, { namespace: 'default', name }, { type: 'merge', body: {} });
  void write('busy').catch(() => undefined);
  const queued = write('queued');
  // Waits until both writes have been passed to the connection.
  await new Promise(setImmediate);
  tell('queued');
  await queued.then(
    () => tell('sent'),
    () => tell('refused'),
  );
}

/**
 * The longest time from the check of the fence to the end of the system call, unless the process is
 * stopped.
 */
const longestSendMs = 100;

/** Wraps `transport` to report when the process was stopped between the check of the fence and the send. */
function timed(transport: Transport): Transport {
  const request: Transport['request'] = (sent) => {
    const beforeSend = (): void => {
      sent.beforeSend?.();
      const askedMs = systemClock.monotonicMs();
      // The request is sent in this turn of the event loop.
      process.nextTick(() => {
        if (systemClock.monotonicMs() - askedMs > longestSendMs) tell('overtaken');
      });
    };
    return transport.request(sent.beforeSend === undefined ? sent : { ...sent, beforeSend });
  };
  return { request, close: () => transport.close() };
}

function tell(event: ReplicaEvent): void {
  process.stdout.write(`${event}\n`);
}

await main();
