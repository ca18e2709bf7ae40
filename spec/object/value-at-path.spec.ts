import { expect } from 'chai';
import { fieldPath, keyElement, valueAtPath } from '../../lib/object/field-path.js';

describe('valueAtPath', () => {
  const udp = { port: 53, protocol: 'UDP' };
  const tcp = { port: 53 };
  const object = { spec: { ports: [tcp, udp], args: ['a', 'b'], tags: ['x'] } };
  const ports = fieldPath('spec', 'ports');

  it('follows path elements for fields, list keys, set values and list indexes', () => {
    expect(valueAtPath(object, fieldPath('spec', 'args'))).to.deep.equal(['a', 'b']);
    expect(valueAtPath(object, [...ports, keyElement(udp), 'f:protocol'])).to.equal('UDP');
    expect(valueAtPath(object, [...fieldPath('spec', 'tags'), 'v:"x"'])).to.equal('x');
    expect(valueAtPath(object, [...fieldPath('spec', 'args'), 'i:1'])).to.equal('b');
    expect(valueAtPath(object, [])).to.equal(object);
  });

  it("matches a list entry without the key field if the field's default fits, unless another entry has it", () => {
    const key = keyElement({ port: 53, protocol: 'TCP' });
    expect(valueAtPath(object, [...ports, key])).to.equal(tcp);
    expect(valueAtPath({ ports: [tcp, udp] }, ['f:ports', keyElement(udp)])).to.equal(udp);
  });

  it('returns undefined if the path leads to no value', () => {
    expect(valueAtPath(object, fieldPath('spec', 'none', 'deeper'))).to.equal(undefined);
    expect(valueAtPath(object, [...ports, 'k:{"port":1}', 'f:x'])).to.equal(undefined);
    expect(valueAtPath(object, ['f:spec', 'i:0'])).to.equal(undefined);
    expect(valueAtPath(object, fieldPath('constructor'))).to.equal(undefined);
    expect(valueAtPath(undefined, fieldPath('a'))).to.equal(undefined);
  });
});
