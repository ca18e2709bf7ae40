import { expect } from 'chai';
import { diffObjects, redactChanges, redactObject } from '../../lib/object/diff-by-path.js';

const secret = (value: string) => ({
  metadata: {
    labels: { version: value },
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":"${value}"}` },
  },
  data: { password: value },
  ...(value === 'hunter2' ? {} : { stringData: { token: value } }),
  type: value,
});

describe('redactChanges', () => {
  it('hides the values of a Secret, wherever they occur, and keeps the paths', () => {
    const changes = redactChanges('Secret', diffObjects(secret('hunter2'), secret('hunter3')));
    expect(changes).to.deep.equal([
      { path: 'metadata.labels.version', from: 'hunter2', to: 'hunter3' },
      {
        path: 'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]',
        from: '(redacted)',
        to: '(redacted)',
      },
      { path: 'data.password', from: '(redacted)', to: '(redacted)' },
      { path: 'type', from: 'hunter2', to: 'hunter3' },
      { path: 'stringData', from: undefined, to: '(redacted)' },
    ]);
  });

  it('hides a new Secret as a whole', () => {
    const changes = redactChanges('Secret', diffObjects(undefined, secret('hunter2')));
    expect(changes).to.deep.equal([{ path: '', from: undefined, to: '(redacted)' }]);
  });

  it('returns other kinds unchanged', () => {
    const changes = diffObjects({ data: { a: '1' } }, { data: { a: '2' } });
    expect(redactChanges('ConfigMap', changes)).to.equal(changes);
  });
});

describe('redactObject', () => {
  const object = (value: string) => ({ apiVersion: 'v1', kind: 'Secret', ...secret(value) });

  it('hides every value in the data of a Secret, and marks changed values', () => {
    const shown = redactObject(object('hunter3'), object('hunter2'));
    expect(shown).to.deep.equal({
      ...{ apiVersion: 'v1', kind: 'Secret', type: 'hunter3' },
      metadata: {
        labels: { version: 'hunter3' },
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '(redacted, changed)' },
      },
      data: { password: '(redacted, changed)' },
      stringData: { token: '(redacted)' },
    });
    expect(redactObject(object('hunter2'))['data']).to.deep.equal({ password: '(redacted)' });
  });

  it('returns other kinds unchanged', () => {
    const map = { ...object('hunter2'), kind: 'ConfigMap' };
    expect(redactObject(map)).to.equal(map);
  });
});
