import { expect } from 'chai';
import { ApiError } from '../../lib/object/api-error.js';
import { OperatorError, isOperatorError } from '../../lib/system/operator-error.js';

describe('OperatorError', () => {
  it('has a code, a message and a cause', () => {
    const cause = new Error('deep');
    const error = new OperatorError('Timeout', 'get Pod shop/web: late', { cause });
    expect(error).to.be.instanceOf(Error);
    expect(error).to.include({ code: 'Timeout', message: 'get Pod shop/web: late', cause });
    expect(error.name).to.equal('OperatorError');
  });

  it('has no cause if none is given', () => {
    expect(new OperatorError('Timeout', 'late')).not.to.have.property('cause');
  });

  it('has the name of its class', () => {
    const error = new ApiError({}, { verb: 'get', kind: 'Pod', status: 404 });
    expect(error.name).to.equal('ApiError');
    expect(error.stack).to.match(/^ApiError: get Pod: 404/);
  });
});

describe('isOperatorError', () => {
  it('checks the code', () => {
    const error = new OperatorError('Timeout', 'late');
    expect(isOperatorError(error)).to.equal(true);
    expect(isOperatorError(error, 'Timeout')).to.equal(true);
    expect(isOperatorError(error, 'Aborted')).to.equal(false);
  });

  it('recognizes errors that another installed copy of operator-builder created', () => {
    const foreign = { [Symbol.for('operator-builder.OperatorError')]: true, code: 'Timeout' };
    expect(isOperatorError(foreign, 'Timeout')).to.equal(true);
  });

  const others = { undefined, null: null, 'a string': 'Timeout', 'a plain object': { code: 'x' } };
  for (const [title, other] of Object.entries({ ...others, 'a plain error': new Error('x') })) {
    it(`is false for ${title}`, () => {
      expect(isOperatorError(other)).to.equal(false);
    });
  }
});
