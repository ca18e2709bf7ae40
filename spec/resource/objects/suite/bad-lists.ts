import { expect } from 'chai';
import { ConfigMap, Deployment, Secret, Service } from '../../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';
import {
  configMapResource,
  isInvalidConfig,
  objectsResource,
  secretResource,
} from '../../../../lib/resource/index.js';
import type { LogFields, Logger } from '../../../../lib/system/logger.js';
import { secret, service, workload } from './changes.js';
import { configMap, configMaps, failureOf, keep, keptNames } from './keeping.js';
import type { OpenScene } from './keeping.js';

/** Declares how invalid lists, and objects that the server rejects, are handled. */
export function badListsSuite(open: OpenScene): void {
  const elsewhere: ConfigMap = {
    ...configMap('b'),
    metadata: { name: 'b', namespace: 'elsewhere' },
  };
  const anything = (value: unknown) => () => value as readonly ConfigMap[];
  const cases: readonly [string, () => readonly ConfigMap[], string, RegExp][] = [
    [
      'an object of another namespace',
      () => [configMap('a'), elsewhere],
      'InvalidObject',
      /ConfigMap elsewhere\/b .* must be in its namespace/,
    ],
    ['a duplicate object', () => [configMap('a'), configMap('a')], 'DuplicateObject', /a twice/],
    ['an invalid name', () => [configMap('a'), configMap('B_')], 'InvalidObject', /B_/],
    [
      'a missing name',
      anything([{ ...configMap('a'), metadata: {} }]),
      'InvalidObject',
      /a ConfigMap without a name/,
    ],
    [
      'a value that is not a list',
      anything(undefined),
      'InvalidObject',
      /undefined instead of a list/,
    ],
    ['null in the list', anything([configMap('a'), null]), 'InvalidObject', /null as entry 1/],
    [
      'an entry without a kind',
      anything([{ metadata: { name: 'a' } }]),
      'InvalidObject',
      /without apiVersion or kind as entry 0/,
    ],
    [
      'an object of another kind',
      anything([configMap('a'), service('web')]),
      'InvalidObject',
      /v1 Service is not a kind of this resource \(v1 ConfigMap\)/,
    ],
    [
      'an object of a newer version',
      anything([{ ...configMap('a'), apiVersion: 'v2' }]),
      'InvalidObject',
      /v2 ConfigMap is not a kind/,
    ],
  ];
  for (const [what, desired, code, message] of cases) {
    it(`${what} is rejected before any write`, async () => {
      const scene = await open();
      await keep(scene, [configMaps([configMap('superfluous')])]);
      await scene.writes();
      const failure = await failureOf(keep(scene, [configMaps(desired)]));
      expect(failure.step).to.equal('getDesiredState');
      expect(failure.errors.map((error) => error.code)).to.deep.equal([code]);
      expect(failure.message).to.match(message);
      expect(await scene.writes()).to.deep.equal([]);
      expect(await keptNames(scene)).to.deep.equal(['superfluous']);
      expect(scene.events.map(({ type, reason }) => `${type} ${reason}`)).to.include(
        `Warning ${code}`,
      );
    });
  }

  it('an object that two resources of a chain desire is rejected with the names of both', async () => {
    const scene = await open();
    const resources = [
      configMaps([configMap('a')]),
      configMaps([configMap('a')], { name: 'next' }),
    ];
    const failure = await failureOf(keep(scene, resources));
    expect(failure.errors.map(({ code }) => code)).to.deep.equal(['DuplicateObject']);
    expect(failure.message).to.include('the resources settings and next');
  });

  it('an immutable field is reported with both values', async () => {
    const scene = await open();
    const resource = (app: string) =>
      objectsResource({
        ...{ name: 'app', types: [Deployment] },
        getDesiredState: () => {
          const { spec, ...rest } = workload('web');
          const labels = { app, part: 'web' };
          const template = { ...spec?.template, metadata: { labels } };
          return [{ ...rest, spec: { template, selector: { matchLabels: { app } } } }];
        },
      });
    await keep(scene, [resource('one')]);
    const failure = await failureOf(keep(scene, [resource('two')]));
    expect(failure.step).to.equal('applyUpdateChange');
    expect(failure.errors.map(({ code }) => code)).to.deep.equal(['ImmutableField']);
    expect(failure.message).to.include(`Deployment ${scene.namespace}/web`);
    expect(failure.message).to.include('spec.selector.matchLabels.app ("one" to "two")');
    expect(failure.message).to.match(
      /; take the change back, give the object another name, or delete it, with its pods or data, to have it recreated \(in a builder: see onImmutable\)$/,
    );
  });

  it('an object that the server rejects fails the reconcile without a retry, and the other objects are written', async () => {
    const scene = await open();
    const wrong = { ...service('web'), spec: { ports: [{ port: 99_999 }] } };
    const resource = objectsResource({
      ...{ name: 'settings', types: [Service, ConfigMap] },
      getDesiredState: () => [wrong, configMap('a')],
    });
    const failure = await failureOf(keep(scene, [resource]));
    expect(failure.errors.map(({ code }) => code)).to.deep.equal(['Terminal']);
    expect(failure.message).to.include('Service').and.to.include('99999');
    expect(await keptNames(scene)).to.deep.equal(['a']);
  });

  it('a kind that the server does not serve is reported only while objects of it are desired', async () => {
    const scene = await open();
    const Widget = { apiVersion: 'example.com/v1', kind: 'Widget' };
    const resource = (desired: readonly KubernetesObject[]) =>
      objectsResource({ name: 'widgets', types: [Widget], getDesiredState: () => desired });
    await keep(scene, [resource([])]);
    // A kind whose CRD was deleted, but whose resource type is still given.
    const type = { group: 'example.com', version: 'v1', kind: 'Gadget', plural: 'gadgets' };
    const gadgets = { name: 'gadgets', types: [{ ...type, namespaced: true }] };
    await keep(scene, [objectsResource({ ...gadgets, getDesiredState: () => [] })]);
    const failure = await failureOf(
      keep(scene, [resource([{ ...Widget, metadata: { name: 'w' } }])]),
    );
    expect(failure.errors.map(({ code }) => code)).to.deep.equal(['UnknownKind']);
    expect(failure.message).to.include('Widget');
  });

  it('names and keys such as constructor and __proto__ are treated like any others', async () => {
    const scene = await open();
    const data = Object.fromEntries([
      ['__proto__', '1'],
      ['constructor', '2'],
    ]);
    const names = ['constructor', 'tostring', 'hasownproperty'];
    const list = names.map((name) => ({
      ...configMap(name, data),
      metadata: { name, labels: { constructor: 'x' } },
    }));
    await keep(scene, [configMaps(list, { allowedLabels: ['constructor', 'toString'] })]);
    await scene.writes();
    await keep(scene, [configMaps(list, { allowedLabels: ['constructor', 'toString'] })]);
    expect(await scene.writes()).to.deep.equal([]);
    const live = await scene.get(ConfigMap, 'constructor');
    expect(Object.entries(live.data ?? {}).sort()).to.deep.equal(Object.entries(data).sort());
    expect(live.metadata.labels).to.include({ constructor: 'x' });
    await keep(scene, [configMaps(list.slice(1))]);
    expect(await keptNames(scene)).to.deep.equal(['hasownproperty', 'tostring']);
  });

  it('the data of a Secret appears in no log, error or event', async () => {
    const scene = await open();
    const value = 'hunter2-hunter2';
    const encoded = Buffer.from(value).toString('base64');
    const told: string[] = [];
    const logger = tellingLogger(told);
    const resource = (list: readonly Secret[]) =>
      secretResource({ name: 'secrets', getDesiredState: () => list });
    const fixed = { ...secret('fixed', { p: value }), immutable: true };
    const attempts: (readonly Secret[])[] = [
      [secret('token', { p: value }), fixed],
      [
        secret('token', { p: `${value}!` }),
        { ...secret('fixed', { p: `${value}!` }), immutable: true },
      ],
      [{ ...secret('token', {}), data: { p: `${value}*` } }],
      [secret('token', { p: value }), secret('token', { p: value })],
      [{ ...secret('token', { p: value }), type: 'kubernetes.io/tls' }],
      [],
    ];
    for (const attempt of attempts) {
      try {
        await keep(scene, [resource(attempt)], { logger });
      } catch (error) {
        told.push(allOf(error));
      }
      const body = { stringData: { p: `${value}-edited` } };
      if ((await scene.find(Secret, 'token')) !== undefined) {
        await scene.edit(Secret, 'token', { body });
      }
    }
    told.push(...scene.events.map((event) => JSON.stringify(event)));
    expect(told.length).to.be.above(5);
    expect(told.join('\n')).not.to.include(value).and.not.to.include(encoded.slice(0, 16));
  });

  it('the option types is rejected by configMapResource and similar functions, with the function to use instead', () => {
    const options = { name: 'a', getDesiredState: () => [], types: [Deployment] };
    expect(() => configMapResource(options))
      .to.throw('configMapResource a: unknown option "types"; use objectsResource')
      .with.property('code', 'InvalidOption');
  });

  describe('invalid options are rejected', () => {
    const getDesiredState = () => [];
    // Plain JavaScript can pass anything.
    const made = (options: object): unknown => objectsResource(options as never);
    const wrong: readonly [string, () => unknown, string][] = [
      ['no name', () => configMapResource({ name: '', getDesiredState }), 'name is missing'],
      [
        'no kinds',
        () => objectsResource({ name: 'a', types: [], getDesiredState }),
        'types is empty; give at least one kind',
      ],
      ['no list of kinds', () => made({ name: 'a', getDesiredState }), 'types: want a list'],
      [
        'a kind that a circular import leaves undefined',
        () => made({ name: 'a', getDesiredState, types: [ConfigMap, undefined] }),
        'types[1]: want a ResourceType',
      ],
      [
        'a first kind without a name',
        () => made({ name: 'a', getDesiredState, types: [{ apiVersion: 'v1' }, ConfigMap] }),
        'types[0]: want a ResourceType',
      ],
      ['no desired state', () => made({ name: 'a', types: [ConfigMap] }), 'getDesiredState: want'],
      [
        'allowed labels that are not a list',
        () => made({ name: 'a', types: [ConfigMap], getDesiredState, allowedLabels: 'team' }),
        'allowedLabels: want a list',
      ],
      [
        'an invalid field manager',
        () => configMapResource({ name: 'a', getDesiredState, fieldManager: 'a\nb' }),
        'fieldManager',
      ],
      [
        'a name that is not a valid field manager',
        () => configMapResource({ name: 'x'.repeat(200), getDesiredState }),
        'its name is its fieldManager by default: choose a name of 1 to 128 printable characters, or set fieldManager',
      ],
      [
        'an order without a part',
        () => configMapResource({ name: 'a', getDesiredState, order: ['create', 'delete'] }),
        'order',
      ],
    ];
    for (const [what, make, message] of wrong) {
      it(what, () => {
        let error: unknown;
        try {
          make();
        } catch (thrown) {
          error = thrown;
        }
        expect(isInvalidConfig(error), String(error)).to.equal(true);
        expect(String(error)).to.include(message);
      });
    }
  });
}

/** Returns the text of an error, including its causes. */
function allOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = JSON.stringify(error, Object.getOwnPropertyNames(error));
  const parts: unknown[] = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  const all = [own, error.stack ?? '', ...parts.map(allOf)];
  return [...all, error.cause === undefined ? '' : allOf(error.cause)].join('\n');
}

function tellingLogger(told: string[]): Logger {
  const tell = (text: string, fields: LogFields = {}): void => {
    told.push(`${text} ${JSON.stringify(fields)} ${allOf(fields['error'])}`);
  };
  const logger: Logger = {
    ...{ debug: tell, info: tell, warn: tell, error: tell },
    child: () => logger,
  };
  return logger;
}
