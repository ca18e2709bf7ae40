import { expect } from 'chai';
import { ConnectionError } from '../../../lib/system/index.js';
import type { Client } from '../../../lib/client/index.js';
import { forwarding } from '../../../lib/client/index.js';
import type { ResourceContext } from '../../../lib/resource/index.js';
import type { Logger } from '../../../lib/system/logger.js';
import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { deferred } from '../../controller/deferred.js';
import type { Deferred } from '../../controller/deferred.js';
import { scenes } from './suite/scene.js';
import type { Scene, SceneFramework } from './suite/scene.js';

const controller = { reconcileTimeoutMs: 1_000 };
const stuck = 'set all, resource r1, ensureCreated has not ended after 1000 ms';

describe('a resource whose call continues after its time-out', () => {
  const open = scenes(embeddedTarget);

  it('is reported in Ready by a single write, which replaces an error written just before', async () => {
    const scene = await open();
    const held = deferred();
    let runs = 0;
    const created = async (): Promise<void> => {
      runs++;
      if (runs === 1) throw new Error('no quota');
      if (runs === 2) await held.promise;
    };
    scene.run({ resources: [scene.resource('r1', { created })], controller });
    await scene.create('a');
    await shows(scene, /no quota$/);
    await shows(scene, stuck, 500);
    await scene.requests();
    await scene.pass(60_000);
    expect(await scene.requests()).to.deep.equal([]);
    held.resolve();
    await shows(scene, 'all resources are as desired');
  });

  it('is not reported in Ready if its call ends soon after its signal is aborted', async () => {
    const scene = await open();
    const created = async ({ signal }: ResourceContext): Promise<void> => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
    };
    scene.run({ resources: [scene.resource('r1', { created })], controller });
    await scene.create('a');
    await scene.until(async () => (await messageOf(scene)) !== undefined);
    expect(await messageOf(scene)).to.match(/: not over after 1000 ms \(reconcileTimeoutMs\)$/);
  });

  it('is reconciled again as soon as its call ends, although the server has not responded to the report', async () => {
    const scene = await open();
    const held = deferred();
    let reports = 0;
    const report: Report = (signal) => {
      reports++;
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    };
    scene.run({ ...hanging(scene, { held, report }), controller });
    await scene.create('a');
    await scene.until(() => reports > 0);
    held.resolve();
    await shows(scene, 'all resources are as desired');
  });

  it('leaves no timer of a postponed report when the framework stops', async () => {
    const scene = await open();
    let runs = 0;
    const created = (): Promise<void> => {
      runs++;
      if (runs === 1) throw new Error('no quota');
      return new Promise(() => undefined);
    };
    const running = scene.run({ resources: [scene.resource('r1', { created })], controller });
    await scene.create('a');
    await shows(scene, /no quota$/);
    await scene.pass(2_500);
    await running.stop();
    expect(scene.target.clock).to.have.property('pendingTimers', 0);
    expect(await messageOf(scene)).to.match(/no quota$/);
  });

  it('is logged if reporting it fails, and reporting this failure fails too', async () => {
    const scene = await open();
    const held = deferred();
    const report: Report = () =>
      Promise.reject(new ConnectionError('no route', { requestSent: false }));
    const failing: Logger = {
      ...scene.logger,
      child: () => failing,
      debug: (message) => {
        if (message.includes('not shown in the condition')) throw new Error('the log is full');
      },
    };
    scene.run({ ...hanging(scene, { held, report }), controller, logger: failing });
    await scene.create('a');
    const line = 'error: the time-out is not shown in the condition the log is full';
    await scene.until(() => scene.lines.includes(line));
    held.resolve();
    await shows(scene, 'all resources are as desired');
  });
});

/** Answers the write of a report in place of the server. */
type Report = (signal: AbortSignal | undefined) => Promise<never>;

/** Returns a framework whose first reconcile waits for `held`. `report` answers its writes of reports. */
function hanging(
  scene: Scene,
  { held, report }: { readonly held: Deferred; readonly report: Report },
): SceneFramework {
  let isHeld = true;
  void held.promise.then(() => (isHeld = false));
  const created = async (): Promise<void> => {
    if (isHeld) await held.promise;
  };
  const { client: direct } = scene.operator;
  const client: Client = {
    ...forwarding(direct),
    patch: (type, key, patch, options) =>
      JSON.stringify(patch).includes('has not ended')
        ? report(options?.signal)
        : direct.patch(type, key, patch, options),
  };
  return { resources: [scene.resource('r1', { created })], client };
}

async function messageOf(scene: Scene): Promise<string | undefined> {
  return (await scene.condition('a', 'Ready'))?.message;
}

/** Waits until the message of the condition `Ready` is or matches `message`. */
function shows(scene: Scene, message: string | RegExp, within?: number): Promise<void> {
  return scene.until(async () => {
    const now = await messageOf(scene);
    if (typeof message === 'string') expect(now).to.equal(message);
    else expect(now).to.match(message);
  }, within);
}
