import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller.js';
import type { ControllerRuntime } from '../../lib/controller/options.js';
import { extendContext } from '../../lib/controller/index.js';
import type { ReconcileContext } from '../../lib/controller/reconcile.js';
import { done } from '../../lib/controller/result.js';
import type { Logger } from '../../lib/system/logger.js';
import { silentLogger } from '../../lib/system/logger.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { Thing } from '../cache/fake-server.js';
import { ControllerSetup } from './controller-setup.js';

/** Reconciles one Thing with `handler`. */
async function reconcileOne(
  handler: (context: ReconcileContext) => unknown,
  runtime: Partial<ControllerRuntime> = {},
): Promise<void> {
  const setup = new ControllerSetup();
  setup.things.put('a');
  let reconciles = 0;
  const controller = controllerFor(Thing).complete(async (context) => {
    reconciles++;
    await handler(context);
    return done();
  });
  const running = await setup.start(controller, runtime);
  await setup.stop(running);
  expect(reconciles).to.be.above(0);
  expect(setup.lines('error')).to.deep.equal([]);
}

/** Records the fields of each child logger. */
function countingLogger(made: object[]): Logger {
  const child: Logger['child'] = (fields) => {
    made.push(fields);
    return countingLogger(made);
  };
  return { ...silentLogger, child };
}

describe('the context of a reconcile', () => {
  it('can be copied by spread syntax with its lazy fields', () =>
    reconcileOne((context) => {
      const spread = { ...context };
      expect(spread).to.have.all.keys(
        ...['key', 'cluster', 'signal', 'logger', 'client', 'trigger', 'triggers'],
        ...['moreTriggers', 'reconcileID', 'span', 'planning', 'recorder', 'clock'],
      );
      expect(spread.client).to.equal(context.client);
      expect(spread.signal).to.equal(context.signal);
      expect(spread.logger).to.equal(context.logger);
    }));

  it('has a client that can be copied by spread syntax with all its methods', () =>
    reconcileOne(async ({ client, key }) => {
      const { live, ...spread } = { ...client };
      for (const each of [client, spread, live, { ...live }]) {
        expect((await each.get(Thing, key)).metadata.name).to.equal('a');
      }
    }));

  it('creates one logger, and only for a reconciler that reads it', async () => {
    const made: object[] = [];
    const ofReconciles = (): object[] => made.filter((fields) => 'reconcileID' in fields);
    const logger = countingLogger(made);
    await reconcileOne(() => undefined, { logger });
    expect(ofReconciles()).to.have.length(0);
    await reconcileOne((context) => [context.logger, context.logger], { logger });
    expect(ofReconciles()).to.have.length(1);
  });

  it('can be extended by extendContext without creating its lazy fields, which the copy creates when they are read', async () => {
    const made: object[] = [];
    let [before, after] = [NaN, NaN];
    const handler = (context: ReconcileContext): void => {
      before = made.length;
      extendContext(context, { size: 1 });
      after = made.length;
    };
    await reconcileOne(handler, { logger: countingLogger(made) });
    expect(after).to.equal(before);
    await reconcileOne((context) => {
      const { client, key } = context;
      const extended = extendContext(context, { size: 1 });
      expect(extended).to.include({ size: 1, key, client });
      expect(extended.logger).to.equal(context.logger);
      expect(context).to.not.have.property('size');
    });
  });

  it('can be extended after it was copied by spread syntax', () =>
    reconcileOne((context) => {
      const spread = { ...context };
      const extended = extendContext(spread, { size: 1 });
      expect(extended).to.deep.equal({ ...spread, size: 1 });
      expect(spread).to.not.have.property('size');
    }));

  it('returns an aborted signal when it is first read after the abort', async () => {
    let late: ReconcileContext | undefined;
    const setup = new ControllerSetup();
    setup.things.put('a');
    const controller = controllerFor(Thing)
      .withOptions({ reconcileTimeoutMs: 1_000 })
      .complete((context) => {
        late = context;
        return new Promise(() => undefined);
      });
    const running = await setup.start(controller);
    await setup.clock.advance(1_000);
    expect(late?.signal.aborted).to.equal(true);
    expect(late?.signal.reason).to.have.property('code', 'Timeout');
    await setup.stop(running);
  });

  it('refuses writes after the leadership term in which the reconcile began, whenever the client is read', async () => {
    let term = 1;
    const checked: number[] = [];
    const fence = {
      check: () => undefined,
      term: () => {
        const began = term;
        const check = (what: string): void => {
          checked.push(began);
          if (began !== term) throw new OperatorError('Fenced', what);
        };
        return { check };
      },
    };
    const handler = async (context: ReconcileContext): Promise<void> => {
      term++;
      const thing = await context.client.get(Thing, context.key);
      const error: unknown = await context.client.update(thing).catch((caught: unknown) => caught);
      expect(error).to.have.property('code', 'Fenced');
    };
    await reconcileOne(handler, { fence });
    expect(checked).to.deep.equal([1]);
  });
});
