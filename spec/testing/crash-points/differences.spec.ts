import { expect } from 'chai';
import type { ConfigMap, Secret } from '../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../lib/object/index.js';
import { crashPoints } from '../../../lib/testing/index.js';
import { by, configMap, namespace, note, shopScenario } from '../shop-scenario.js';
import type { Reconcile } from '../shop-scenario.js';

const withoutMetadata = ({ metadata, ...rest }: UnstructuredObject): UnstructuredObject => ({
  ...rest,
  metadata: { name: metadata.name ?? '' },
});

/** Returns the difference that remains if a crash keeps an operator from writing `late` over `early`. */
async function differenceOf<T extends ConfigMap | Secret>(early: T, late: T): Promise<string> {
  const reconcile: Reconcile = async (client, shop) => {
    if (shop.data?.['done'] === 'yes') return;
    const known = await client.get(early, { namespace, name: 'env' }).catch(() => undefined);
    if (known === undefined) {
      await client.create(early, { fieldManager: by.fieldManager });
      await client.apply(late, by);
    }
    await note(client);
  };
  const scenario = shopScenario(reconcile, { comparable: withoutMetadata });
  const only = { step: 'create', request: 3, mode: 'answered' } as const;
  const error = await crashPoints(scenario, { only }).catch((thrown: unknown) => thrown);
  expect(error).to.have.property('code', 'CrashPointFailed');
  const lines = (error as Error).message.split('\n').filter((line) => line.includes('differs: '));
  expect(lines).to.have.length(1);
  return lines[0]?.trim() ?? '';
}

describe('crashPoints, if an object differs from the run without a crash', () => {
  const start = 'differs: ConfigMap default/env differs from the uninterrupted run: ';

  it('shows the values of both runs', async () => {
    const text = await differenceOf(
      configMap('env', { a: '1', b: '2' }),
      configMap('env', { a: '1', b: '3', c: '4' }),
    );
    expect(text).to.equal(`${start}data.b: "3" there, "2" here; data.c: "4" there, nothing here`);
  });

  it('shows at most five fields, and counts the rest', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const data = (value: string): Record<string, string> =>
      Object.fromEntries(names.map((name) => [name, value]));
    const five = names.map((name) => `data.${name}: "2" there, "1" here`).join('; ');
    const early = configMap('env', data('1'));
    expect(await differenceOf(early, configMap('env', data('2')))).to.equal(start + five);
    names.push('f', 'g');
    const [more, late] = [configMap('env', data('1')), configMap('env', data('2'))];
    expect(await differenceOf(more, late)).to.equal(`${start}${five}; and 2 more`);
  });

  it('shows the first 200 characters of a long value', async () => {
    const [fitting, long] = ['a'.repeat(198), 'b'.repeat(199)];
    const text = await differenceOf(
      configMap('env', { a: fitting, b: '1' }),
      configMap('env', { a: '1', b: long }),
    );
    expect(text).to.equal(
      `${start}data.a: "1" there, "${fitting}" here; data.b: "${long}… there, "1" here`,
    );
  });

  it('shows no data of a Secret', async () => {
    const secret = (password: string): Secret => ({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'env' } },
      data: { password: Buffer.from(password).toString('base64') },
    });
    const text = await differenceOf(secret('first'), secret('second'));
    expect(text).to.include('Secret default/env differs from the uninterrupted run: data.password');
    for (const password of ['first', 'second']) {
      expect(text).not.to.include(Buffer.from(password).toString('base64'));
    }
  });
});
