import { expect } from 'chai';
import { operatorOfViewGroup, viewGroupOf } from '../../../lib/declarative/spec/operator-spec.js';

describe('The group of views', () => {
  it('names its operator, unlike any other group', () => {
    expect(viewGroupOf('shop')).to.equal('shop.view.dcontroller.io');
    expect(operatorOfViewGroup(viewGroupOf('shop'))).to.equal('shop');
    for (const group of ['', 'apps', 'view.dcontroller.io']) {
      expect(operatorOfViewGroup(group), group).to.equal(undefined);
    }
  });
});
