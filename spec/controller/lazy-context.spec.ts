import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller.js';
import type { ControllerRuntime } from '../../lib/controller/options.js';
import type { ReconcileContext } from '../../lib/controller/reconcile.js';
import { done } from '../../lib/controller/result.js';
import type { Logger } from '../../lib/system/logger.js';
import { silentLogger } from '../../lib/system/logger.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { Thing } from '../cache/fake-server.js';
import { ControllerSetup } from './controller-setup.js';

/** Has `handler` reconcile one Thing. */
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

/** Notes what its children are made with. */
function countingLogger(made: object[]): Logger {
  const child: Logger['child'] = (fields) => {
    made.push(fields);
    return countingLogger(made);
  };
  return { ...silentLogger, child };
}

describe('the context of a reconcile', () => {
  it('can be spread: what is made when it is asked for is there', () =>
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

  it('gives a client that can be spread, calls and all', () =>
    reconcileOne(async ({ client, key }) => {
      const { live, ...spread } = { ...client };
      for (const each of [client, spread, live, { ...live }]) {
        expect((await each.get(Thing, key)).metadata.name).to.equal('a');
      }
    }));

  it('makes a logger for a handler that asks for one, and only one', async () => {
    const made: object[] = [];
    const ofReconciles = (): object[] => made.filter((fields) => 'reconcileID' in fields);
    const logger = countingLogger(made);
    await reconcileOne(() => undefined, { logger });
    expect(ofReconciles()).to.have.length(0);
    await reconcileOne((context) => [context.logger, context.logger], { logger });
    expect(ofReconciles()).to.have.length(1);
  });

  it('shows a signal that was first asked for when it was aborted already', async () => {
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

  it('writes in the term that it began in, whenever it asks for its client', async () => {
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
