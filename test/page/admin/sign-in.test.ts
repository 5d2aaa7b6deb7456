import { afterEach, expect, test, vi } from 'vitest'
import { beginSignIn, returnFromSignIn, takeSignIn } from '../../../packages/page/src/admin/sign-in.ts'

afterEach(() => vi.unstubAllGlobals())

/** A tab that came back to an address. */
function openTab(search: string): string[] {
  const shown: string[] = []
  vi.stubGlobal('location', { search, pathname: '/' })
  vi.stubGlobal('history', { replaceState: (_: null, __: string, address: string) => shown.push(address) })
  return shown
}

test('the answer of a sign-in is taken once, by the server for which the tab left the page', () => {
  const kept = new Map<string, string>()
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => kept.set(name, text),
    removeItem: (name: string) => kept.delete(name),
  })
  const shown = openTab('?code=c&state=s')
  returnFromSignIn()
  expect([takeSignIn(7), shown]).toEqual([undefined, []])
  beginSignIn(7)
  expect(takeSignIn(7)).toBeUndefined()
  returnFromSignIn()
  expect(shown).toEqual(['/#admin/actions'])
  expect([takeSignIn(8), takeSignIn(7), takeSignIn(7)]).toEqual([undefined, 'code=c&state=s', undefined])
})

test('a browser that forbids storage shows the page and its servers all the same', () => {
  vi.stubGlobal('sessionStorage', undefined)
  Object.defineProperty(globalThis, 'sessionStorage', {
    configurable: true,
    get: () => {
      throw new DOMException('The operation is insecure.', 'SecurityError')
    },
  })
  openTab('?state=s')
  beginSignIn(7)
  returnFromSignIn()
  expect(takeSignIn(7)).toBeUndefined()
})
