import { expect } from 'chai';
import { controllerFor, done, requeueAfter } from '../../lib/controller/index.js';
import type { Reconciler } from '../../lib/controller/index.js';
import { ConfigMap, Secret } from '../../lib/object/index.js';

const failureOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

describe('controllerFor', () => {
  // The compiler rejects these mistakes; plain JavaScript and circular imports can still make them.
  const nothing = undefined as unknown as typeof ConfigMap;
  const noFunction = undefined as unknown as Reconciler;
  const mistakes: readonly [string, () => unknown, string][] = [
    [
      'a missing type',
      () => controllerFor(nothing),
      'controllerFor: the type is undefined: pass a',
    ],
    [
      'a missing type of owned objects',
      () => controllerFor(Secret).owns(nothing),
      'owns: the type is undefined',
    ],
    [
      'a missing type of watched objects',
      () => controllerFor(Secret).watches(nothing, () => []),
      'watches: the type is undefined',
    ],
    [
      'a missing mapper',
      () => controllerFor(Secret).watches(ConfigMap, undefined as never),
      'watches: want a mapper, a function; got undefined',
    ],
    [
      'a missing reconciler',
      () => controllerFor(Secret).complete(noFunction),
      'complete: want the reconciler, a function; got undefined',
    ],
    [
      'a predicate of an owned kind that is not a function',
      () => controllerFor(Secret).owns(ConfigMap, { predicate: {} as never }),
      'owns: predicate: want a function such as generationChanged(), got object',
    ],
    [
      'a text as metadataOnly',
      () => controllerFor(Secret, { metadataOnly: 'false' as never }),
      'controllerFor: metadataOnly: want true or false, got "false"',
    ],
    [
      'options of a watch that are not an object',
      () => controllerFor(Secret).watches(ConfigMap, () => [], 'all' as never),
      'watches: options: want an object, got string',
    ],
    [
      'options that are a promise',
      () => controllerFor(Secret).withOptions(Promise.resolve({}) as never),
      'withOptions: options: want an object, got a promise',
    ],
    [
      'missing options',
      () => controllerFor(Secret).withOptions(undefined as never),
      'withOptions: want an object, got undefined',
    ],
    [
      'an object that is not a source',
      () => controllerFor(Secret).from({} as never),
      'from: want a source with a method start',
    ],
    [
      'a delay of the back-off that is a text',
      () => controllerFor(Secret).withOptions({ backoff: { baseDelayMs: '5' as never } }),
      'backoff: baseDelayMs: want a number, got "5"',
    ],
    [
      'options of the hot loop detector that are not an object',
      () => controllerFor(Secret).withOptions({ hotLoop: true as never }),
      'hotLoop: options: want an object, got boolean',
    ],
    [
      'a listener that is not a function',
      () => controllerFor(Secret).withOptions({ onEvent: null as never }),
      'controller secret: onEvent: want a function, got null',
    ],
    [
      'a name that is not a string',
      () => controllerFor(Secret).withOptions({ name: 5 as never }),
      'name: want a string, got number',
    ],
    ...[Infinity, NaN, -1, 0].map((ms): [string, () => unknown, string] => [
      `the delay ${ms}`,
      () => requeueAfter(ms),
      `requeueAfter: want a finite delay of more than 0 ms, got ${ms}; return done() to wait`,
    ]),
  ];
  for (const [what, act, message] of mistakes) {
    it(`rejects ${what} with an error that names the mistake`, () => {
      const error = failureOf(act);
      expect(error).to.have.property('code', 'InvalidOption');
      expect(error).to.have.property('message').that.contains(message);
    });
  }

  it('accepts valid arguments, and derives the name of the controller from the kind', () => {
    const controller = controllerFor(Secret)
      .owns(ConfigMap)
      .complete(() => Promise.resolve(done()));
    expect(controller.name).to.equal('secret');
  });
});
