import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller.js';
import { requeueAfter, TerminalError } from '../../lib/controller/result.js';
import { ConfigMap, Secret } from '../../lib/object/kinds.js';

describe('A call with a value of a wrong type, as plain JavaScript allows', () => {
  const calls: Readonly<Record<string, () => unknown>> = {
    'controllerFor: want a type, got "DnsRecord": pass': () => controllerFor('DnsRecord' as never),
    'owns: want a type, got a value of class Array: pass': () =>
      controllerFor(ConfigMap).owns([Secret] as never),
    'maxConcurrentReconciles: want a number, got "4"': () =>
      controllerFor(ConfigMap).withOptions({ maxConcurrentReconciles: '4' as never }),
    'requeueAfter: message: want a string, got a number': () => requeueAfter(5, 5 as never),
    'want options such as { reason: \'InvalidSpec\' }, got "Reason"': () =>
      new TerminalError('x', 'Reason' as never),
  };
  for (const [message, call] of Object.entries(calls)) {
    it(`is refused at once: ${message}`, () => {
      expect(call).to.throw(message).with.property('code', 'InvalidOption');
    });
  }
});
