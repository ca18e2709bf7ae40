import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import type { LoadedProject } from '../../../lib/cli/load-operator.js';
import { keepRunning } from '../../../lib/cli/run/keep-running.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { Manager, RunnableContext } from '../../../lib/manager/index.js';
import { silentLogger, systemClock } from '../../../lib/system/index.js';
import { whenAborted } from '../../../lib/system/clock.js';
import { eventually } from '../../../lib/testing/index.js';
import { scratchDirectory } from '../cli.js';
import { replaceFile } from './project.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('keepRunning, which restarts a changed operator', () => {
  const file = scratchDirectory();
  let cluster: EmbeddedCluster;
  let log: string[];
  let told: string[];
  let stop: AbortController;
  let kept: Promise<void>;

  before(async () => {
    cluster = await EmbeddedCluster.start();
    await mkdir(file('src'));
    await writeFile(file('src/operator.ts'), '');
  });

  after(() => cluster.stop());

  beforeEach(() => {
    [log, told, stop] = [[], [], new AbortController()];
  });

  afterEach(async () => {
    stop.abort();
    await kept.catch(() => undefined);
  });

  /** An operator that logs its run. @param run - additional work */
  function operator(
    name: string,
    run: (context: RunnableContext) => Promise<unknown> = () => Promise.resolve(),
  ): LoadedProject {
    const setup = (manager: Manager): void | Promise<void> => {
      if (name === 'endless') return new Promise(() => log.push('endless is set up'));
      if (name === 'wrong') throw new Error('it is wrong');
      manager.add({
        name,
        run: async (context) => {
          log.push(`${name} begins`);
          await run(context);
          await whenAborted(context.signal);
          // Simulates work during the stop.
          for (let turns = 0; turns < 20; turns++) await turn();
          log.push(`${name} ends`);
        },
      });
    };
    return { root: file(), files: [], operator: { name, setup } };
  }

  /** Keeps the first operator running; each change loads the next one. */
  function keep(first: LoadedProject, ...others: LoadedProject[]): void {
    const [clock, client] = [systemClock, cluster.client()];
    kept = keepRunning(first, {
      ...{ clock, logger: silentLogger, signal: stop.signal, watch: true },
      load: () => Promise.resolve(others.shift() ?? operator('none')),
      managerOptions: ({ operator: { name } }) => ({
        ...{ client, clock, ...(name === 'stuck' && { gracefulShutdownMs: 1 }) },
      }),
      prepare: async ({ operator: { name } }) => void log.push(`${name} is prepared`),
      print: (text) => told.push(text),
    });
    kept.catch(() => undefined);
  }

  let changes = 0;
  const change = (): Promise<void> => replaceFile(file('src/operator.ts'), String(++changes));

  function until(line: string): Promise<unknown> {
    return eventually(() => expect([...log, ...told].join('\n')).to.include(line));
  }

  it('prepares the changed operator, stops the old operator completely, and then starts the changed one', async () => {
    keep(operator('first'), operator('second'));
    await until('first begins');
    await change();
    await until('second begins');
    stop.abort();
    await kept;
    expect(log).to.deep.equal([
      ...['first is prepared', 'first begins'],
      ...['second is prepared', 'first ends', 'second begins', 'second ends'],
    ]);
    expect(told).to.deep.equal(['sources changed: the operator restarts']);
  });

  it('continues with the running operator if the setup of the changed operator fails', async () => {
    keep(operator('first'), operator('wrong'));
    await until('first begins');
    await change();
    await until('it is wrong');
    expect(told).to.deep.equal(['change not applied, the running operator continues: it is wrong']);
    expect(log).to.deep.equal(['first is prepared', 'first begins']);
  });

  it('waits for the next change if the changed operator fails', async () => {
    const failing = operator('second', () => Promise.reject(new Error('no till')));
    keep(operator('first'), failing, operator('third'));
    await until('first begins');
    await change();
    await until('the operator failed; change its sources to start it again: no till');
    await change();
    await until('third begins');
    stop.abort();
    await kept;
    expect(log.at(-1)).to.equal('third ends');
  });

  it('starts the changed operator although the previous operator fails while it stops', async () => {
    keep(
      operator('stuck', () => new Promise(() => undefined)),
      operator('second'),
    );
    await until('stuck begins');
    await change();
    await until('second begins');
    expect(told).to.deep.equal([
      'sources changed: the operator restarts',
      'the previous operator failed while it stopped: runnables have not ended in time: stuck',
    ]);
    stop.abort();
    await kept;
  });

  it('reports that no operator runs if the operator has failed and the setup of the changed one fails', async () => {
    const failing = operator('second', () => Promise.reject(new Error('no till')));
    keep(operator('first'), failing, operator('wrong'));
    await until('first begins');
    await change();
    await until('the operator failed');
    await change();
    await until('change not applied, no operator runs: it is wrong');
  });

  it('fails with the error of the first operator', async () => {
    keep(operator('first', () => Promise.reject(new Error('no till'))));
    const error = await kept.catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'no till');
    expect(told).to.deep.equal([]);
  });

  for (const [when, names] of [
    ['first', ['endless']],
    ['next', ['first', 'endless']],
  ] as const) {
    it(`ends when its signal aborts while the setup of the ${when} operator hangs`, async () => {
      const [first = '', ...others] = names;
      keep(operator(first), ...others.map((name) => operator(name)));
      if (others.length > 0) {
        await until('first begins');
        await change();
      }
      await until('endless is set up');
      stop.abort();
      await kept;
      expect(told).to.deep.equal([]);
    });
  }
});
