import { expect } from 'chai';
import { operatorOfViewGroup, viewGroupOf } from '../../../lib/declarative/spec/operator-spec.js';

describe('The API group of views', () => {
  it('contains the name of their operator, which other API groups do not', () => {
    expect(viewGroupOf('shop')).to.equal('shop.view.dcontroller.io');
    expect(operatorOfViewGroup(viewGroupOf('shop'))).to.equal('shop');
    for (const group of ['', 'apps', 'view.dcontroller.io']) {
      expect(operatorOfViewGroup(group), group).to.equal(undefined);
    }
  });
});
