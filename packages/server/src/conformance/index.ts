export { authenticatorConformance, type AuthenticatorUnderTest, type MakeAuthenticator } from './authenticator-tests.ts'
export type { ConformanceTest } from '@inlay/protocol/conformance'
