import { describe, expect, test } from 'vitest'
import { smallTalkOf } from '@inlay/text'

describe('small talk', () => {
  test.each([
    ['hi', 'greeting'],
    ['Hello there!', 'greeting'],
    ['Guten Tag', 'greeting'],
    ['Bonjour à tous', 'greeting'],
    ['¡Hola!', 'greeting'],
    ['你好！', 'greeting'],
    ['こんにちは', 'greeting'],
    ['Привет', 'greeting'],
    ['مرحبا', 'greeting'],
    ['thanks', 'thanks'],
    ['Thank you so much for your help 🙏', 'thanks'],
    ['ok, thanks!', 'thanks'],
    ['thanks, that helped a lot!', 'thanks'],
    ['Vielen Dank', 'thanks'],
    ['谢谢你', 'thanks'],
    ['hi, who are you?', 'identity'],
    ['Wer bist du?', 'identity'],
    ['你好，你是谁？', 'identity'],
    ['How are you today?', 'wellbeing'],
    ['Great, thanks. Bye!', 'farewell'],
    ['What can you do?', 'help'],
    ['What can you do for me?', 'help'],
    ['Was kannst du für mich tun?', 'help'],
    ['got it', 'acknowledgement'],
    ['👍', 'empty'],
    ['...', 'empty'],
  ])('%s', (message, kind) => expect(smallTalkOf(message)).toBe(kind))

  test.each([
    'hi, how many days of leave do I get?',
    'thanks, and for part-timers?',
    'thanks, that helps but what about dogs',
    'and for part-timers?',
    'who are you reporting to?',
    'Who is Anna Meier?',
    'help desk opening hours',
    'what can you do for me in payroll',
    'good morning meeting',
    'hilton',
    'IT',
    '42',
    '<=>',
    '-k',
    '/help',
    'please',
    'you',
    'yes, book it',
    'ping',
    '你好世界程序怎么写',
    'no-code tools',
  ])('not: %s', (message) => expect(smallTalkOf(message)).toBeUndefined())

  test('a long message takes no time', () => expect(smallTalkOf('hi '.repeat(100_000))).toBeUndefined())
})
