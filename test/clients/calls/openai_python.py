"""Python's clients of OpenAI's API, as far as they are installed: openai, langchain-openai, llama-index, llm, aider."""

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

base, key = sys.argv[1:]
question = "How many days of leave?"
text = "There are 25 days of leave [1]."
link = "https://handbook.example/leave"
schema = {
    "type": "object",
    "properties": {"days": {"type": "integer"}},
    "required": ["days"],
    "additionalProperties": False,
}


def check_openai():
    import openai

    client = openai.OpenAI(base_url=base, api_key=key)
    ask = client.chat.completions.create
    asked = {"model": "inlay", "messages": [{"role": "user", "content": question}]}

    def cited(content, annotation):
        assert content == text, content
        citation = annotation["url_citation"]
        assert (citation["url"], citation["title"]) == (link, "Rules of leave"), citation
        assert content[citation["start_index"] : citation["end_index"]] == "[1]", citation

    assert [model.id for model in client.models.list()] == ["inlay"]
    assert client.models.retrieve("inlay").object == "model"

    message = ask(**asked).choices[0].message
    assert len(message.annotations) == 1, message
    cited(message.content, message.annotations[0].model_dump())

    content, annotations, usage = "", [], None
    for chunk in ask(**asked, stream=True, stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            content += choice.delta.content or ""
            annotations += getattr(choice.delta, "annotations", None) or []
    assert len(annotations) == 1 and usage.total_tokens > 0, (annotations, usage)
    cited(content, annotations[0])

    with client.chat.completions.stream(**asked) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].message.content == text, final
    with client.chat.completions.with_streaming_response.create(**asked) as response:
        assert response.parse().choices[0].message.content == text

    function = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    asked["tools"] = [{"type": "function", "function": function}]
    with client.chat.completions.stream(**asked) as stream:
        streamed = stream.get_final_completion().choices[0]
    whole = ask(**asked).choices[0]
    for choice in (streamed, whole):
        call = choice.message.tool_calls[0].function
        assert (choice.finish_reason, call.name, json.loads(call.arguments)) == ("tool_calls", "weather", {"city": "Bern"})
    call = whole.message.tool_calls[0]
    asked["messages"] += [whole.message, {"role": "tool", "tool_call_id": call.id, "content": "21 degrees"}]
    assert ask(**asked).choices[0].message.content == "It has 21 degrees in Bern."

    def refused(kind, words, call):
        try:
            call()
        except kind as error:
            assert words in f"{error} {error.code}" and error.request_id, (error, error.body)
        else:
            raise AssertionError(f"No {kind.__name__}.")

    wrong = openai.OpenAI(base_url=base, api_key="wrong")
    refused(openai.AuthenticationError, "invalid_api_key", wrong.models.list)
    refused(openai.NotFoundError, "model_not_found", lambda: ask(**{**asked, "model": "gpt-4o"}))
    refused(openai.BadRequestError, 'no message of role "user"', lambda: ask(model="inlay", messages=[]))
    refused(openai.BadRequestError, "leave out n", lambda: ask(**asked, n=2))
    refused(
        openai.InternalServerError,
        "INLAY_EMBEDDING_MODEL",
        lambda: client.embeddings.create(model="inlay", input="Leave"),
    )


def check_responses():
    import openai

    client = openai.OpenAI(base_url=base, api_key=key)
    asked = {"model": "inlay", "input": question}

    def cited(response):
        part = next(item for item in response.output if item.type == "message").content[0]
        assert part.text == text and any(item.title == "Rules of leave" for item in part.annotations), part

    first = client.responses.create(**asked)
    cited(first)
    cited(client.responses.create(**asked, previous_response_id=first.id))
    with client.responses.stream(**asked) as stream:
        cited(stream.get_final_response())

    conversation = client.conversations.create(items=[{"type": "message", "role": "user", "content": "Hello!"}]).id
    for _ in range(2):
        cited(client.responses.create(**asked, conversation=conversation))
    kinds = [item.type for item in client.conversations.items.list(conversation, order="asc")]
    assert kinds == ["message"] + 2 * ["message", "file_search_call", "message"], kinds
    assert client.conversations.delete(conversation).deleted

    from pydantic import BaseModel

    class Leave(BaseModel):
        days: int

    assert client.responses.parse(**asked, text_format=Leave).output_parsed.days == 25


def check_langchain():
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_openai import ChatOpenAI

    def weather(city: str) -> str:
        """Weather of a city."""
        return "21 degrees"

    model = ChatOpenAI(model="inlay", base_url=base, api_key=key, stream_usage=True)
    answer = model.invoke(question)
    assert answer.content == text and answer.usage_metadata["total_tokens"] > 0, answer
    assert "".join(chunk.content for chunk in model.stream(question)) == text
    helped = model.bind_tools([weather])
    asked = [HumanMessage("What is the weather?"), helped.invoke("What is the weather?")]
    call = asked[1].tool_calls[0]
    asked.append(ToolMessage(weather(**call["args"]), tool_call_id=call["id"]))
    assert helped.invoke(asked).content == "It has 21 degrees in Bern."
    leave = model.with_structured_output({"title": "leave", **schema})
    assert leave.invoke(question) == {"days": 25}


def check_llama_index():
    from llama_index.core.tools import FunctionTool
    from llama_index.llms.openai_like import OpenAILike
    from pydantic import BaseModel

    def weather(city: str) -> str:
        """Weather of a city."""
        return f"21 degrees in {city}"

    class Leave(BaseModel):
        days: int

    options = {"model": "inlay", "api_base": base, "api_key": key, "is_chat_model": True}
    model = OpenAILike(**options, is_function_calling_model=True)
    answer = model.complete(question)
    annotations = answer.raw.choices[0].message.annotations
    assert answer.text == text and annotations[0].url_citation.url == link, answer
    assert "".join(part.delta for part in model.stream_complete(question)) == text
    tool = FunctionTool.from_defaults(weather)
    assert str(model.predict_and_call([tool], "What is the weather?")) == "21 degrees in Bern"
    structured = OpenAILike(**options, should_use_structured_outputs=True)
    assert structured.as_structured_llm(Leave).complete(question).raw == Leave(days=25)


def check_llm():
    with tempfile.TemporaryDirectory() as folder:
        model = {
            "model_id": "inlay",
            "model_name": "inlay",
            "api_base": base,
            "api_key_name": "inlay",
            "supports_tools": True,
            "supports_schema": True,
        }
        # JSON is YAML too.
        (Path(folder) / "extra-openai-models.yaml").write_text(json.dumps([model]))

        def llm(*words):
            command = [sys.executable, "-m", "llm", "-m", "inlay", "--key", key, "--no-log", *words]
            return run(command, folder, {"LLM_USER_PATH": folder}).strip()

        assert llm(question) == text
        assert llm("--no-stream", question) == text
        function = 'def weather(city: str) -> str:\n    return "21 degrees"\n'
        assert llm("--functions", function, "What is the weather?") == "It has 21 degrees in Bern."
        assert json.loads(llm("--schema", json.dumps(schema), question)) == {"days": 25}


def check_aider():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "hours.py"
        file.write_text("opening = hours[0]\n")
        options = ["--no-git", "--yes-always", "--no-check-update", "--analytics-disable", "--no-show-model-warnings"]
        command = [sys.executable, "-m", "aider", "--model", "openai/inlay", *options, "--edit-format", "diff"]
        variables = {"OPENAI_API_BASE": base, "OPENAI_API_KEY": key, "HOME": folder, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        output = run([*command, "--message", "Take the second hour.", "hours.py"], folder, variables)
        assert file.read_text() == "opening = hours[1]\n", output


def run(command, folder, variables):
    result = subprocess.run(
        command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


for package, check in [
    ("openai", check_openai),
    ("openai", check_responses),
    ("langchain-openai", check_langchain),
    ("llama-index-llms-openai-like", check_llama_index),
    ("llm", check_llm),
    ("aider-chat", check_aider),
]:
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        print(f"{package}: not installed, so not checked")
        continue
    check()
    print(f"{package} {version}: {check.__name__[6:]} works", flush=True)
