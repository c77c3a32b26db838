"""JUnit of a whole night: a case for each thing that can make it red, the same ones every night where the configuration is. What became
of each case that was judged stands beside it, in a file of each row."""
import xml.etree.ElementTree as xml

from night import judging


def text(told):
    """As the schema that plumb keeps to has it (harness/report/junit-10.xsd)."""
    suites = xml.Element("testsuites", time="0.000")
    for row in told["rows"]:
        ran = [(f"{backend} runs", "error", row["missing"].get(backend)) for backend in row["backends"]]
        held = [(what, "failure", said) for what, said in judging.checks(row, told["fail_on"])]
        append(suites, f"night.{row['name']}", ran + held)
    if told["absent"]:
        append(suites, "night.parts", [(f"part {part}", "error", "it is missing: what it would have judged is not compared")
                                       for part in told["absent"]])
    xml.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(suites, encoding="unicode") + "\n"


def append(suites, name, checks):
    """Of each check its name, and where it does not hold, what is said."""
    count = lambda element: str(sum(of == element for _, of, said in checks if said))
    suite = xml.SubElement(suites, "testsuite", name=name, tests=str(len(checks)), failures=count("failure"), errors=count("error"),
                           skipped="0", time="0.000")
    for what, element, said in checks:
        case = xml.SubElement(suite, "testcase", name=what, classname=name, time="0.000")
        if said:
            xml.SubElement(case, element, message=said.partition("\n")[0], type=what.partition(" ")[0]).text = said
