import { expect } from 'chai';
import {
  messageOf,
  isPermanent,
  PermanentError,
  isResourceFailed,
} from '../../lib/resource/errors.js';
import { processUpdate } from '../../lib/resource/process.js';
import type { Resource } from '../../lib/resource/resource-set.js';
import { withLogging } from '../../lib/resource/wrap.js';
import { withRetry } from '../../lib/resource/with-retry.js';
import { failureOf, newPass, tenant } from './chain-setup.js';

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const unreadable = new Error('x');
Object.defineProperty(unreadable, 'message', {
  get: () => {
    throw new Error('not for you');
  },
});

const thrown: readonly [title: string, value: unknown, words: string][] = [
  ['an error', new Error('the disk is full'), 'the disk is full'],
  ['an error without a message', new TypeError(''), 'TypeError'],
  ['an AggregateError', new AggregateError([new Error('one'), 'two']), 'one; two'],
  ['a string', 'the disk is full', 'the disk is full'],
  ['undefined', undefined, 'undefined was thrown, not an error'],
  ['a number', 7, '7'],
  ['a symbol', Symbol('s'), 'Symbol(s)'],
  ['an object with a message', { message: 'the disk is full' }, 'the disk is full'],
  ['an object without a message', { password: 'hunter2' }, 'a value of type object was thrown'],
  ['an object without a prototype', Object.create(null), 'a value of type object was thrown'],
  ['a function', () => 'hunter2', 'a value of type function was thrown'],
  ['an error whose message throws', unreadable, 'threw an unreadable value'],
  ['a proxy that was revoked', revoked(), 'threw an unreadable value'],
];

describe('messageOf, the message of any thrown value', () => {
  for (const [title, value, words] of thrown) {
    it(`describes ${title}`, () => {
      expect(messageOf(value)).to.satisfy((text: string) => text.startsWith(words));
    });

    it(`names set, resource, step and object in the error of a step that throws ${title}`, async () => {
      const resource: Resource = {
        name: 'r',
        ensureCreated: () => failWith(value),
        ensureDeleted: () => Promise.resolve(),
      };
      const once = { backOffFactory: () => ({ next: () => undefined }) };
      for (const each of [resource, withRetry(resource, once), withLogging(resource)]) {
        const error = await failureOf(
          processUpdate(newPass({ resourceSet: 'v1' }), tenant, [each]),
        );
        expect(isResourceFailed(error)).to.equal(true);
        const place = 'Tenant shop/acme: set v1, resource r, ensureCreated: ';
        expect(error.message.startsWith(`${place}${words}`), error.message).to.equal(true);
      }
    });

    it(`is the message of a PermanentError that wraps ${title}`, () => {
      const error: unknown = new PermanentError(value);
      expect(isPermanent(error) && error.message.startsWith(words)).to.equal(true);
    });
  }
});

function failWith(value: unknown): Promise<never> {
  return Promise.resolve().then(() => {
    throw value;
  });
}
