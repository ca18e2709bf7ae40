import { expect } from 'chai';
import { ConfigMap } from '../../../lib/object/kinds.js';
import type { RunPlace } from '../../../lib/operator/command-line.js';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';
import { Stage, Tenant, operatorName } from './stage.js';

/** Specs about the output of `Operator.run` on a terminal, on the embedded and the real server. */
export function operatorFeedSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let stage: Stage;
  let printed: { out: string; error: string };

  before(async () => {
    target = await newTarget();
  });

  beforeEach(async () => {
    stage = await Stage.open(target);
    printed = { out: '', error: '' };
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .builds(({ object, builder }) => builder.configMap({ name: 'env', data: object.spec.env }));
  });

  afterEach(() => stage.stop());

  after(() => target.close());

  /** Starts the operator on a terminal. */
  async function start(env: RunPlace['env'] = {}): Promise<void> {
    const stderr = { columns: 80, write: (text: string) => (printed.error += text) };
    // The first output shows that the feed is loaded, for which the virtual clock does not wait.
    await new Promise<void>((resolve) => {
      const write = (text: string): void => {
        printed.out += text;
        resolve();
      };
      stage.start({}, { stdout: { columns: 80, write }, stderr, env });
    });
    await shown('\nstarted\n');
  }

  const shown = (text: string): Promise<void> =>
    target.eventually(async () => {
      if (!printed.out.includes(text)) throw new Error(`no ${text} in ${printed.out}`);
    });

  it("the feed prints the operator's namespaces, and one line for each object that it changes", async () => {
    const { namespace } = stage;
    await start({ NO_COLOR: '1' });
    expect(printed.out).to.equal(`operator ${operatorName}\nnamespaces: ${namespace}\n\nstarted\n`);
    await stage.create('acme', { env: { A: '1' } });
    await shown(`+ Tenant ${namespace}/acme\n`);
    await shown(`+ ConfigMap ${namespace}/env\n`);
    await shown(`~ Tenant ${namespace}/acme  Ready=True (Reconciled); `);
    await stage.change('acme', { spec: { env: { A: '2' } } });
    await shown(`~ ConfigMap ${namespace}/env  data.A: "1" → "2"\n`);
    expect(printed.out).to.not.contain('{"level"');
    expect(printed.error).to.equal('');
  });

  it('the feed prints a failed reconcile as one line with the verb, the object and the reason', async () => {
    const { namespace } = stage;
    await start({ NO_COLOR: '1' });
    await stage.create('acme', { env: { 'a key': '1' } });
    await shown(`! Tenant ${namespace}/acme: apply ConfigMap ${namespace}/env: 422 data`);
    expect(printed.error).to.equal('');
  });

  it('the feed prints colours without NO_COLOR', async () => {
    await start();
    await stage.create('acme');
    await shown(`\u001b[32m+\u001b[39m Tenant ${stage.namespace}/acme\n`);
  });
}
