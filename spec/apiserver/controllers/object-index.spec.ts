import { expect } from 'chai';
import type {
  ControllerHost,
  ObjectChange,
} from '../../../lib/apiserver/controllers/controller-host.js';
import {
  ObjectIndex,
  labelWords,
  selectorWords,
} from '../../../lib/apiserver/controllers/controller-host.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { configMap } from './workload-objects.js';

/** Creates an index of ConfigMaps by label, and a function that notifies it of changes. */
function indexByLabel() {
  let tell: (change: ObjectChange<ConfigMap>) => void = () => undefined;
  const watch = (_: unknown, listener: typeof tell): void => void (tell = listener);
  const host = { watch } as unknown as ControllerHost;
  const index = new ObjectIndex(host, ConfigMap, ({ metadata }) => labelWords(metadata.labels));
  const found = (words: readonly string[], namespace = 'default'): (string | undefined)[] =>
    index.find(namespace, words).map(({ metadata }) => metadata.name);
  return { found, tell: (change: ObjectChange<ConfigMap>) => tell(change) };
}

function labeled(name: string, labels: Record<string, string>): ConfigMap {
  return configMap(name, { uid: `uid-of-${name}`, labels });
}

describe('ObjectIndex', () => {
  it('finds an object in a namespace only once, even if it has several of the given labels', () => {
    const { found, tell } = indexByLabel();
    const object = labeled('a', { app: 'web', tier: 'x' });
    tell({ type: 'ADDED', object, previous: undefined });
    expect(found(['app=web', 'tier=x'])).to.deep.equal(['a']);
    expect(found(['app=other'])).to.deep.equal([]);
    expect(found(['app=web'], 'elsewhere')).to.deep.equal([]);
  });

  it('updates its entries when an object is changed or deleted', () => {
    const { found, tell } = indexByLabel();
    const [before, after] = [labeled('a', { app: 'web' }), labeled('a', { app: 'db' })];
    tell({ type: 'ADDED', object: before, previous: undefined });
    tell({ type: 'MODIFIED', object: after, previous: before });
    expect([found(['app=web']), found(['app=db'])]).to.deep.equal([[], ['a']]);
    tell({ type: 'DELETED', object: after, previous: after });
    expect(found(['app=db'])).to.deep.equal([]);
  });
});

describe('selectorWords', () => {
  const labels = { app: 'web', tier: 'x' };
  const selectors = [
    { matchLabels: labels },
    { matchLabels: { tier: 'x' } },
    { matchExpressions: [{ key: 'app', operator: 'Exists' }] },
    {},
  ];
  for (const selector of selectors) {
    it(`returns only words that the index has for labels which ${JSON.stringify(selector)} selects`, () => {
      expect(labelWords(labels)).to.include.members([...selectorWords(selector)]);
    });
  }

  it('returns no words for an undefined selector', () => {
    expect(selectorWords(undefined)).to.deep.equal([]);
  });
});
