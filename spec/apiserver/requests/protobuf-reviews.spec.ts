import { expect } from 'chai';
import fc from 'fast-check';
import { reviewFromProtobuf } from '../../../lib/apiserver/requests/protobuf-reviews.js';

/** What kubectl 1.32 sends for `auth can-i get healthview`. */
const recorded = Buffer.from(
  '6b387300' +
    '0a320a17617574686f72697a6174696f6e2e6b38732e696f2f7631' +
    '121753656c665375626a656374416363657373526576696577' +
    '125a0a100a0012001a0022002a0032003800420012' +
    '3c0a3a0a0764656661756c7412036765741a18' +
    '73686f702e766965772e64636f6e74726f6c6c65722e696f' +
    '22002a0a6865616c74687669657732003a001a080800' +
    '12001a0020001a002200',
  'hex',
);

describe('reviewFromProtobuf', () => {
  it('reads what kubectl sends', () => {
    expect(reviewFromProtobuf(recorded)).to.deep.equal({
      ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' },
      spec: {
        resourceAttributes: {
          ...{ namespace: 'default', verb: 'get', group: 'shop.view.dcontroller.io' },
          ...{ version: '', resource: 'healthview', subresource: '', name: '' },
        },
      },
    });
  });

  it('reads nothing of other kinds, of other forms and of what is cut off', () => {
    const other = Buffer.from(recorded);
    other.write('X', other.indexOf('SelfSubjectAccessReview'));
    for (const bytes of [
      other,
      Buffer.from('{}'),
      recorded.subarray(4),
      recorded.subarray(0, 60),
    ]) {
      expect(reviewFromProtobuf(bytes)).to.equal(undefined);
    }
  });

  it('throws for no bytes at all', () => {
    const bytes = fc.uint8Array({ maxLength: 100 });
    const property = fc.property(bytes, fc.nat(recorded.length), (some, from) => {
      const mixed = Buffer.concat([recorded.subarray(0, from), some]);
      reviewFromProtobuf(mixed);
    });
    fc.assert(property);
  });
});
