import { expect } from 'chai';
import { newEvent } from '../../lib/events/recorder.js';
import type { ObjectEvent } from '../../lib/events/recorder.js';
import { dns1123SubdomainProblem } from '../../lib/object/names.js';
import { seededRandom } from '../../lib/system/random.js';

const random = seededRandom(7);
const origin = { controllerName: 'c', instance: 'i', nowMs: 0, random };

const made = (part: Partial<ObjectEvent>) => {
  const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web' };
  const event = {
    regarding,
    type: 'Normal',
    reason: 'R',
    action: 'A',
    note: 'n',
    ...part,
  } as const;
  return newEvent(event, origin);
};

describe('newEvent', () => {
  it('puts the Event of a cluster-scoped object into the namespace default', () => {
    const { metadata, regarding } = made({
      regarding: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', uid: 'u' } },
    });
    expect(metadata.namespace).to.equal('default');
    expect(regarding).to.deep.equal({ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' });
  });

  it('throws an error that names the missing field', () => {
    expect(() => made({ reason: '' })).to.throw('event on Pod: reason is missing');
    expect(() => made({ action: '' })).to.throw('event on Pod: action is missing');
  });

  it('throws an error that names a field with an invalid value and the valid values', () => {
    const refused = (part: object, message: string): void => {
      const isRefused = expect(() => made(part), message).to.throw(message);
      isRefused.with.property('code', 'InvalidObject');
    };
    refused({ note: undefined }, 'event on Pod: note is missing');
    refused({ note: 5 }, 'event on Pod: note: want a string, got number');
    refused({ type: 'warning' }, 'event on Pod: type: want "Normal" or "Warning", got "warning"');
    refused({ type: undefined }, 'event on Pod: type: want "Normal" or "Warning", got undefined');
    refused({ reason: undefined }, 'event on Pod: reason is missing');
    refused({ item: 5 }, 'event on Pod: item: want a string, got number');
    for (const regarding of [undefined, null, 'web']) {
      refused(
        { regarding },
        'event: regarding is missing; give the object that the event is about',
      );
    }
    refused({ regarding: { kind: 'Pod' } }, 'event: the Pod has no name');
    const wanted = 'event on Pod: related: want the other object, or leave it out, got';
    refused({ related: null }, `${wanted} null`);
    refused({ related: 'web' }, `${wanted} string`);
    expect(made({ note: '' }).note).to.equal('');
  });

  it('cuts fields that are too long', () => {
    const long = 'ä'.repeat(2_000);
    const { note, reason, action } = made({ note: long, reason: long, action: long });
    expect(Buffer.byteLength(note ?? '')).to.be.within(1_021, 1_024);
    expect(Buffer.byteLength(reason ?? '')).to.be.within(125, 128);
    expect(Buffer.byteLength(action ?? '')).to.be.within(125, 128);
  });

  it('gives every Event a unique and valid name', () => {
    const names = ['web', 'a'.repeat(253), `${'a'.repeat(235)}.b`, 'system:node', 'Upper'].flatMap(
      (name) => [1, 2].map(() => made({ regarding: { apiVersion: 'v1', kind: 'Pod', name } })),
    );
    const all = names.map(({ metadata }) => metadata.name ?? '');
    for (const name of all) expect(dns1123SubdomainProblem(name)).to.equal(undefined);
    expect(new Set(all).size).to.equal(all.length);
    expect(all[0]).to.match(/^web\.[0-9a-f]{16}$/);
  });
});
