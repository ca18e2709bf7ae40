import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { promMetrics } from '../../../lib/prometheus/index.js';
import { conversionWebhook } from '../../../lib/manager/webhooks/index.js';
import { ownCertificate, serving } from './suite/serving.js';
import type { Serving } from './suite/serving.js';

describe('conversionWebhook', () => {
  /** The result of the converter for objects with `spec.held`. */
  let held: object = {};
  const resource = {
    ...{ group: 'example.com', kind: 'Thing', plural: 'things', versions: ['v1', 'v2'] },
    convert: (object: never, apiVersion: string) => {
      const { spec } = object as {
        spec: { bad?: boolean; overflow?: boolean; held?: boolean; as?: unknown };
      };
      if (spec.held === true) return held as never;
      if (spec.overflow === true) throw new RangeError('Maximum call stack size exceeded');
      if (spec.bad === true) throw new Error('spec.bad can not be converted');
      return ('as' in spec ? spec.as : { ...(object as object), apiVersion }) as never;
    },
  };
  let server: Serving;
  const registry = new Registry();
  before(async () => {
    const metrics = promMetrics(registry);
    server = await serving([conversionWebhook(resource)], await ownCertificate(), { metrics });
  });
  after(() => server.stop());

  const reviewOf = (objects: readonly object[]) => {
    const request = { uid: 'u', desiredAPIVersion: 'example.com/v2', objects };
    return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request };
  };
  const convert = async (objects: readonly object[]) => {
    const answer = await server.post('/convert', reviewOf(objects));
    const { response } = answer.body as { response?: unknown };
    return { status: answer.status, response };
  };
  const thing = (spec: object) => ({
    ...{ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec },
  });

  it('converts every object of a ConversionReview', async () => {
    const { response } = await convert([thing({ a: 1 }), thing({ a: 2 })]);
    const convertedObjects = [1, 2].map((a) => ({ ...thing({ a }), apiVersion: 'example.com/v2' }));
    const result = { status: 'Success' };
    expect(response).to.deep.equal({ uid: 'u', convertedObjects, result });
  });

  it('converts a review of three objects of 2.5 MB each', async () => {
    const large = thing({ text: 'x'.repeat(2_500_000) });
    const { status, response } = await convert([large, large, large]);
    expect(status).to.equal(200);
    expect(response).to.have.nested.property('result.status', 'Success');
  });

  it('answers 413 to a ConversionReview of more than 64 MiB', async () => {
    const body = Buffer.alloc(64 * 1024 * 1024 + 1, 0x20);
    expect((await server.post('/convert', body)).status).to.equal(413);
  });

  it('reads reviews of more than 7 MiB one after the other, and smaller reviews at the same time', async () => {
    const large = JSON.stringify(reviewOf([thing({ text: 'x'.repeat(8_000_000) })]));
    const answered: string[] = [];
    const body = new PassThrough();
    const first = server
      .post('/convert', body, { 'content-length': String(large.length) })
      .then(() => answered.push('first'));
    body.write(large.slice(0, 1));
    await convert([thing({ a: 1 })]);
    const second = server.post('/convert', large).then(() => answered.push('second'));
    for (let n = 0; n < 50; n++) await convert([thing({ text: 'x'.repeat(100_000) })]);
    expect(answered).to.deep.equal([]);
    body.end(large.slice(1));
    await Promise.all([first, second]);
    expect(answered).to.deep.equal(['first', 'second']);
  });

  it('converts an object that nests deeply', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`) as object;
    const { response } = await convert([thing({ a: 1 }), thing(deep)]);
    expect(response).to.have.nested.property('result.status', 'Success');
  });

  it('names the object if a converter overflows the stack', async () => {
    const { response } = await convert([thing({ a: 1 }), thing({ overflow: true })]);
    expect(response).to.have.nested.property('result.status', 'Failed');
    expect(response)
      .to.have.nested.property('result.message')
      .that.matches(/^convert Thing a: nests/);
  });

  for (const [what, value] of [
    ['Map', new Map([['a', 1]])],
    ['NaN', NaN],
    ['a BigInt', 1n],
    ['undefined', [undefined]],
  ] as const) {
    it(`converts nothing if a converted object contains ${what}, which JSON cannot represent`, async () => {
      const metadata = { name: 'a' };
      held = { apiVersion: 'example.com/v2', kind: 'Thing', metadata, spec: { value } };
      const { response } = await convert([thing({}), thing({ held: true })]);
      const { convertedObjects, result } = response as {
        convertedObjects: unknown;
        result: { message: string };
      };
      expect(convertedObjects).to.deep.equal([]);
      const place = Array.isArray(value) ? 'spec.value[0]' : 'spec.value';
      const why = `Thing a: its conversion to example.com/v2: ${place} has no JSON form, got ${what}`;
      expect(result.message).to.include(why);
    });
  }

  it('converts nothing if a converter returns a Promise', async () => {
    held = Promise.resolve(thing({}));
    const { response } = await convert([thing({}), thing({ held: true })]);
    expect(response).to.have.deep.property('convertedObjects', []);
    expect(response)
      .to.have.nested.property('result.message')
      .that.includes('returned a Promise; convert without awaiting anything');
  });

  it('converts no object of a review if one of them fails, and gives the reason', async () => {
    const { response } = await convert([thing({}), thing({ bad: true })]);
    const result = { status: 'Failed', message: 'spec.bad can not be converted' };
    expect(response).to.deep.equal({ uid: 'u', convertedObjects: [], result });
  });

  it('counts failed conversions', async () => {
    const count = async (): Promise<number> => {
      const text = await registry.metrics();
      return Number(
        /^controller_runtime_conversion_webhook_panics_total (\d+)$/m.exec(text)?.[1] ?? 0,
      );
    };
    const before = await count();
    await convert([thing({ bad: true })]);
    await convert([thing({})]);
    expect(await count()).to.equal(before + 1);
    expect(await registry.metrics()).to.match(/^controller_runtime_webhook_panics_total 0$/m);
  });

  const v2 = { apiVersion: 'example.com/v2', kind: 'Thing' };
  for (const [as, why] of [
    [null, 'returned null, want an object'],
    [[], 'returned [], want an object'],
    [
      { ...v2, apiVersion: 'example.com/v1', metadata: { name: 'a' } },
      'returned Thing (example.com/v1), want Thing (example.com/v2)',
    ],
    [
      { ...v2, kind: 'Other', metadata: { name: 'a' } },
      'returned Other (example.com/v2), want Thing (example.com/v2)',
    ],
    [v2, 'lost the metadata; copy it'],
    [{ ...v2, metadata: {} }, 'changed metadata.name to nothing; copy the metadata'],
    [{ ...v2, metadata: { name: 'b' } }, 'changed metadata.name to "b"; copy the metadata'],
    [{ ...v2, metadata: { name: 'a', namespace: 'n' } }, 'changed metadata.namespace to "n"'],
    [{ ...v2, metadata: { name: 'a', uid: 'u' } }, 'changed metadata.uid to "u"'],
    [
      { ...v2, metadata: { name: 'a', labels: { a: 1 } } },
      'set metadata.labels to a value that is not a map',
    ],
    [
      { ...v2, metadata: { name: 'a', annotations: [] } },
      'set metadata.annotations to a value that is not a map',
    ],
  ] as const) {
    it(`fails and names the object whose converter ${why}`, async () => {
      const { response } = await convert([thing({}), thing({ as })]);
      const { convertedObjects, result } = response as {
        convertedObjects: unknown;
        result: { status: string; message: string };
      };
      expect([convertedObjects, result.status]).to.deep.equal([[], 'Failed']);
      expect(result.message).to.include(`Thing a: its conversion to example.com/v2 ${why}`);
    });
  }

  it('fails the review of an object whose kind it does not convert', async () => {
    const { response } = await convert([{ ...thing({}), kind: 'Other' }]);
    expect(response).to.have.nested.property('result.status', 'Failed');
  });

  for (const objects of ['x', [1], undefined]) {
    it(`answers 400 to a review whose objects are ${JSON.stringify(objects)}`, async () => {
      expect((await convert(objects as never)).status).to.equal(400);
    });
  }
});
