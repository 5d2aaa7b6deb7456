import { expect, test } from 'vitest'
import { withUndefined } from '../../packages/inlay/scripts/optional-members.ts'

test('optional members of declarations take undefined, whatever their types are', () => {
  const written = `interface Options extends Partial<Clocks> {
  readonly name?: string;
  readonly fetch?: (url: string) => string | undefined;
  readonly mode?: "a" | "b";
  readonly given?: string | undefined;
  readonly nested: { readonly key?: { readonly deep?: number }[] };
  readonly needed: string;
}
type Lenient<T> = { readonly [Name in keyof T]?: T[Name] };
type Loose<T> = { readonly member?: T extends string ? 1 : 2 };
declare function make(options?: { readonly key?: string }): void;
`
  expect(withUndefined(written)).toBe(`interface Options extends PartialOrUndefined<Clocks> {
  readonly name?: string | undefined;
  readonly fetch?: ((url: string) => string | undefined) | undefined;
  readonly mode?: "a" | "b" | undefined;
  readonly given?: string | undefined;
  readonly nested: { readonly key?: { readonly deep?: number | undefined }[] | undefined };
  readonly needed: string;
}
type Lenient<T> = { readonly [Name in keyof T]?: T[Name] | undefined };
type Loose<T> = { readonly member?: (T extends string ? 1 : 2) | undefined };
declare function make(options?: { readonly key?: string | undefined }): void;

type PartialOrUndefined<T> = { [Name in keyof T]?: T[Name] | undefined };
export {};
`)
})
