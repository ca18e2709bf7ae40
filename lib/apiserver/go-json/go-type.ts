import type { Decoding } from './decoding.js';

/**
 * One of Go's types, as `encoding/json` reads and writes it: decoding a value gives the JSON that the
 * real server would answer after it stored the value (zero values left out, times and quantities in
 * their canonical form, struct fields in Go's order).
 */
export interface GoType {
  /** As Go names it in messages: `int32`, `v1.PullPolicy`, `[]v1.Container`. */
  readonly name: string;
  /**
   * Decodes a value that is there and not null, into fresh objects.
   * @throws DecodeError it is of another type.
   */
  decode(value: unknown, at: Decoding): unknown;
  /** What a field without a value is written as where it may not be left out. */
  zero(): unknown;
  /** Whether `omitempty` leaves out this decoded value. */
  isEmpty(value: unknown): boolean;
}
