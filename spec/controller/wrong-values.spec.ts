import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller.js';
import { enqueueOwner, kindSource } from '../../lib/controller/kind-source.js';
import { requeueAfter, TerminalError } from '../../lib/controller/result.js';
import { callbackSource, streamSource, timerSource } from '../../lib/controller/sources.js';
import { ConfigMap, Secret } from '../../lib/object/kinds.js';

describe('A call with a value of a wrong type, which plain JavaScript does not prevent', () => {
  const calls: Readonly<Record<string, () => unknown>> = {
    'controllerFor: want a type, got "DnsRecord": pass': () => controllerFor('DnsRecord' as never),
    'owns: want a type, got a value of class Array: pass': () =>
      controllerFor(ConfigMap).owns([Secret] as never),
    'maxConcurrentReconciles: want a number, got "4"': () =>
      controllerFor(ConfigMap).withOptions({ maxConcurrentReconciles: '4' as never }),
    'requeueAfter: message: want a string, got a number': () => requeueAfter(5, 5 as never),
    'want options such as { reason: \'InvalidSpec\' }, got "Reason"': () =>
      new TerminalError('x', 'Reason' as never),
    'TerminalError: unknown option "retryAfterMs"; a terminal error is not retried; throw an Error with retryAfterMs instead':
      () => new TerminalError('x', { retryAfterMs: 5 } as never),
    'TerminalError: retryAfterMs: a terminal error is not retried; throw an Error with retryAfterMs instead':
      () => Object.assign(new TerminalError('x'), { retryAfterMs: 5 }),
    'timerSource t: unknown option "every"; did you mean "everyMs"?': () =>
      timerSource({ name: 't', every: 1, everyMs: 1, requests: () => [] } as never),
    'callbackSource c: unknown option "mappr"; did you mean "mapper"?': () =>
      callbackSource({ name: 'c', mappr: () => [], mapper: () => [] } as never),
    'streamSource s: unknown option "opens"; did you mean "open"?': () =>
      streamSource({ name: 's', opens: true, open: () => [], mapper: () => [] } as never),
    'kindSource Secret: unknown option "metadataonly"; did you mean "metadataOnly"?': () =>
      kindSource(Secret, { mapper: () => [], metadataonly: true } as never),
    'enqueueOwner: unknown option "matchEvery"; known options: matchEveryOwner': () =>
      enqueueOwner(ConfigMap, { matchEvery: true } as never),
    'watches: unknown option "predicat"; did you mean "predicate"?': () =>
      controllerFor(ConfigMap).watches(Secret, () => [], { predicat: () => true } as never),
  };
  for (const [message, call] of Object.entries(calls)) {
    it(`is refused at once: ${message}`, () => {
      expect(call).to.throw(message).with.property('code', 'InvalidOption');
    });
  }
});
