import { expect } from 'chai';
import { diffObjects } from '../../lib/object/diff-by-path.js';
import { redactChanges } from '../../lib/object/redact.js';

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
  it("hides a Secret's values wherever they are, and keeps the paths", () => {
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

  it('hides a Secret that is new as a whole', () => {
    const changes = redactChanges('Secret', diffObjects(undefined, secret('hunter2')));
    expect(changes).to.deep.equal([{ path: '', from: undefined, to: '(redacted)' }]);
  });

  it('leaves other kinds alone', () => {
    const changes = diffObjects({ data: { a: '1' } }, { data: { a: '2' } });
    expect(redactChanges('ConfigMap', changes)).to.equal(changes);
  });
});
