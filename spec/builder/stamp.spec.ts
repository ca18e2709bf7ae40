import { expect } from 'chai';
import { stampTemplate, stampVariables } from '../../lib/builder/stamp.js';
import type { Stamp } from '../../lib/builder/stamp.js';

const image = 'registry.example/web:1';

function namesOf(stamps: readonly Stamp[], env: readonly { name: string }[] = []): string[] {
  const template = { spec: { containers: [{ name: 'web', image, env: [...env] }] } };
  return stampVariables(template, stamps).map(({ name }) => name);
}

describe('Hash stamps', () => {
  it('have upper-case names with _ for all characters but letters and digits', () => {
    const stamps: Stamp[] = [
      { kind: 'Secret', name: 'my.token-2', hash: 's' },
      { kind: 'ConfigMap', name: 'web-env', hash: 'c' },
    ];
    expect(namesOf(stamps)).to.deep.equal(['CONFIGMAP_HASH_WEB_ENV', 'SECRET_HASH_MY_TOKEN_2']);
  });

  it('append a hash of the object name to both variables if two names collide', () => {
    const stamps: Stamp[] = [
      { kind: 'ConfigMap', name: 'a-b', hash: '1' },
      { kind: 'ConfigMap', name: 'a.b', hash: '2' },
      { kind: 'ConfigMap', name: 'c', hash: '3' },
    ];
    const names = namesOf(stamps);
    expect(names.filter((name) => /^CONFIGMAP_HASH_A_B_[0-9A-F]{8}$/.test(name))).to.have.length(2);
    expect(names).to.include('CONFIGMAP_HASH_C');
    expect(namesOf(stamps.toReversed())).to.deep.equal(names);
  });

  it('append a hash to a name that a variable of the user already has', () => {
    const stamps: Stamp[] = [{ kind: 'ConfigMap', name: 'env', hash: '1' }];
    const [name] = namesOf(stamps, [{ name: 'CONFIGMAP_HASH_ENV' }]);
    expect(name).to.match(/^CONFIGMAP_HASH_ENV_[0-9A-F]{8}$/);
  });

  it('return the same template if there is nothing to stamp', () => {
    const template = { spec: { containers: [{ name: 'web', image }] } };
    expect(stampTemplate(template, [])).to.equal(template);
  });

  it('do not modify the template that they receive', () => {
    const template = { spec: { containers: [{ name: 'web', image }] } };
    const before = structuredClone(template);
    const stamps: Stamp[] = [{ kind: 'ConfigMap', name: 'env', hash: '1' }];
    const stamped = stampTemplate(template, stampVariables(template, stamps));
    expect(stamped.spec?.containers[0]?.env).to.have.length(1);
    expect(template).to.deep.equal(before);
  });
});
